"""The name service of a place: its own hosts file and resolver configuration, read where a client there reads them.

The tree of files belongs to a stranger: a link may point anywhere, a FIFO may block, a file may be endless. openat2(2)
resolves below the given directory as if it were `/`, follows no magic link, does not wait, and only regular files of
up to `LARGEST` bytes are read.
"""

import ctypes
import errno
import os
import stat

from netdiag.errors import NetdiagError
from netdiag.io.kernel.namespaces import entrances
from netdiag.io.kernel.netns import Namespace, open_namespace
from netdiag.linux.netns import NamespaceId, Netns
from netdiag.linux.resolver import HostsFile, ResolvConf, parse_hosts, parse_resolv_conf
from netdiag.values import dataclass

LARGEST = 64 * 1024
_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_IN_ROOT = 0x10


class _OpenHow(ctypes.Structure):
    """struct open_how of linux/openat2.h."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignText:
    """The content; of a file that does not exist it is empty."""

    text: str
    exists: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """The file is there and cannot be used, and why."""

    because: str


def read_below(root: int, path: str) -> ForeignText | Unreadable:
    """The text of `path` below the directory `root` (a descriptor)."""
    try:
        descriptor = _open_in_root(root, path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return ForeignText(text="", exists=False)
        return Unreadable(because=f"/{path.lstrip('/')}: {os.strerror(error.errno or 0)}")
    try:
        return _read_regular(descriptor, path)
    except OSError as error:
        return Unreadable(because=f"/{path.lstrip('/')}: {os.strerror(error.errno or 0)}")
    finally:
        os.close(descriptor)


def _open_in_root(root: int, path: str) -> int:
    how = _OpenHow(
        os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY, 0, _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS
    )
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor: int = libc.syscall(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(root),
        ctypes.c_char_p(os.fsencode(path)),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return descriptor


def _read_regular(descriptor: int, path: str) -> ForeignText | Unreadable:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return Unreadable(because=f"/{path.lstrip('/')}: not a regular file")
    data = b""
    while len(data) <= LARGEST:
        chunk = os.read(descriptor, LARGEST + 1 - len(data))
        if not chunk:
            return ForeignText(text=data.decode("utf-8", errors="replace"))
        data += chunk
    return Unreadable(because=f"/{path.lstrip('/')}: larger than {LARGEST // 1024} KiB")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameService:
    """Both files as values; `unreadable` tells of those that are there and could not be used."""

    hosts: HostsFile
    resolv_conf: ResolvConf
    unreadable: tuple[str, ...] = ()


def read_name_service(namespace: Namespace) -> NameService:
    """What a client in this namespace, with this root directory, resolves names with."""
    texts: list[str] = []
    unreadable: list[str] = []
    for name in ("hosts", "resolv.conf"):
        found = _first(namespace, name)
        if isinstance(found, Unreadable):
            unreadable.append(found.because)
        texts.append(found.text if isinstance(found, ForeignText) else "")
    return NameService(
        hosts=parse_hosts(texts[0]), resolv_conf=parse_resolv_conf(texts[1]), unreadable=tuple(unreadable)
    )


def _first(namespace: Namespace, name: str) -> ForeignText | Unreadable:
    for folder in namespace.etc:
        found = read_below(namespace.root, f"{folder}/{name}")
        if isinstance(found, Unreadable) or found.exists:
            return found
    return ForeignText(text="", exists=False)


def read_hosts_file(netns: Netns, *, own: bool = False) -> str | None:
    """The text, by the lowest process of the namespace, else by its name; None where it cannot be read."""
    for entrance in entrances(netns, own=own):
        text = _read(entrance)
        if text is not None:
            return text
    return None


def _read(entrance: NamespaceId) -> str | None:
    try:
        with open_namespace(entrance) as namespace:
            for folder in namespace.etc:
                found = read_below(namespace.root, f"{folder}/hosts")
                if isinstance(found, ForeignText) and found.exists:
                    return found.text
    except NetdiagError:
        return None
    return None
