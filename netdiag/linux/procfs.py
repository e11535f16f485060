"""What /proc/PID says about a process: its name, its container, the network namespaces that it holds (proc(5)).

The text is not to be trusted: a process chooses its own name, and a mount point may hold any byte.
"""

import ipaddress
import re

from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process. `netns` is the inode of its network namespace, None where it cannot be read.

    `started` is its start in clock ticks since boot: with `pid` it names a process for good. `container_id` is what its
    cgroup says, "" for none. `argv` is kept for docker-proxy only; other programs' arguments may hold secrets.
    `state` is the letter of ps ("T": stopped by a signal), "" for others.
    """

    pid: int
    comm: str
    started: int
    netns: int | None
    parent: int = 0
    container_id: str = ""
    argv: tuple[str, ...] = ()
    state: str = ""


KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of linux/sched.h, among the flags of /proc/PID/stat."""
_CONTAINER = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_MOUNTED_CONTAINER = re.compile(rb"/containers/([0-9a-f]{64})/(?:hosts|hostname|resolv\.conf) /etc/")
_ESCAPE = re.compile(rb"\\([0-7]{3})")
_NAMESPACE_ROOT = re.compile(rb"net:\[(\d{1,10})\]\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStat:
    """What /proc/PID/stat says; `started` in clock ticks since boot."""

    comm: str
    parent: int
    flags: int
    threads: int
    started: int
    state: str = ""

    @property
    def kernel_thread(self) -> bool:
        """Whether it is a thread of the kernel."""
        return bool(self.flags & KERNEL_THREAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceMount:
    """A network namespace that is kept by a bind mount; `path` as bytes, below the root of who sees it."""

    inode: int
    path: bytes


def parse_stat(text: bytes) -> ProcessStat | None:
    """None for what is no such line; the name may hold parentheses and spaces, so the last one ends it."""
    start, end = text.find(b"("), text.rfind(b")")
    fields = text[end + 2 :].split()
    if start < 0 or end < start or len(fields) < 20:
        return None
    try:
        return ProcessStat(
            comm=text[start + 1 : end].decode("utf-8", "backslashreplace"),
            parent=int(fields[1]),
            flags=int(fields[6]),
            threads=int(fields[17]),
            started=int(fields[19]),
            state=fields[0].decode("ascii", "replace"),
        )
    except ValueError:
        return None


def parse_container_id(cgroup: str) -> str:
    """The id in the paths of /proc/PID/cgroup, of version 1 or 2; of nested ones the innermost, "" for none."""
    found = ""
    for line in cgroup.splitlines():
        for match in _CONTAINER.finditer(line):
            found = match.group()
        if found:
            break
    return found


def parse_mounted_container_id(mountinfo: bytes) -> str:
    """The id in the sources of the files that an engine mounts into /etc of a container, "" for none."""
    match = _MOUNTED_CONTAINER.search(mountinfo)
    return match.group(1).decode("ascii") if match else ""


def parse_tun_name(fdinfo: bytes) -> str:
    """The device that an open /dev/net/tun belongs to (drivers/net/tun.c, tun_chr_show_fdinfo), "" for none yet."""
    for line in fdinfo.splitlines():
        if line.startswith(b"iff:"):
            return line[4:].strip().decode("utf-8", "backslashreplace")
    return ""


def parse_namespace_mounts(mountinfo: bytes) -> tuple[NamespaceMount, ...]:
    """Those of /proc/PID/mountinfo whose file system is nsfs and whose root is net:[INODE]."""
    if b" - nsfs " not in mountinfo:
        return ()
    found: dict[tuple[int, bytes], NamespaceMount] = {}
    for line in mountinfo.split(b"\n"):
        before, _, after = line.partition(b" - ")
        if not after.startswith(b"nsfs "):
            continue
        fields = before.split(b" ")
        root = _NAMESPACE_ROOT.match(fields[3]) if len(fields) > 5 else None
        if root is not None:
            mount = NamespaceMount(inode=int(root.group(1)), path=unescaped(fields[4]))
            # a mount point that is shared with itself is listed twice
            found[mount.inode, mount.path] = mount
    return tuple(found.values())


def unescaped(field: bytes) -> bytes:
    """A field of mountinfo: blanks, tabs, line ends and backslashes are written as octal numbers."""
    return _ESCAPE.sub(lambda match: bytes([int(match.group(1), 8) & 0xFF]), field) if b"\\" in field else field


def proves_container(container_id: str, *, cgroup: str, mountinfo: str) -> bool:
    """Whether the full id stands in the process's cgroup paths, or in the source of a file the engine mounts.

    A pid alone proves nothing: an engine elsewhere numbers the processes of another kernel.
    """
    if len(container_id) != 64:
        return False
    if any(container_id in line for line in cgroup.splitlines()):
        return True
    return any(_mounted_from(line, container_id) for line in mountinfo.splitlines())


def _mounted_from(line: str, container_id: str) -> bool:
    """mountinfo(5): the fourth field is the path inside its file system, the fifth where it is mounted."""
    fields = line.split(" ")
    return (
        len(fields) > 4
        and f"/containers/{container_id}/" in fields[3]
        and fields[4] in ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")
    )


def parse_if_inet6(text: str) -> tuple[str, ...]:
    """The addresses; an empty or absent file is a namespace without IPv6."""
    found: list[str] = []
    for line in text.splitlines():
        digits = line.partition(" ")[0]
        if len(digits) == 32:
            try:
                found.append(str(ipaddress.IPv6Address(bytes.fromhex(digits))))
            except ValueError:
                continue
    return tuple(found)
