"""Network namespaces: how one is named, and what is known of it."""

import re
from enum import Enum

from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNamespace:
    """The namespace that this process is in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessNamespace:
    """The namespace of a process; with `container_id`, the process must belong to that container."""

    pid: int
    container_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedNamespace:
    """A namespace that `ip netns add` named; a path is not a name."""

    name: str

    @property
    def valid(self) -> bool:
        """Whether it can be a file name in /run/netns."""
        return re.fullmatch(r"(?!\.{1,2}$)[^/\x00]{1,255}", self.name) is not None


NamespaceId = OwnNamespace | ProcessNamespace | NamedNamespace


class NetnsSource(Enum):
    """How a namespace was found; users see the value."""

    OWN = "own"
    PROCESS = "process"
    THREAD = "thread"
    BIND_MOUNT = "bind mount"
    DESCRIPTOR = "descriptor"
    SOCKET = "socket"
    LISTNS = "listns"


@dataclass(frozen=True, slots=True, kw_only=True)
class Netns:
    """A network namespace of this kernel.

    `inode` names it as long as it lives; `cookie` (SO_NETNS_COOKIE) for good, None before Linux 5.14. `names` are those
    of `ip netns` (files of /run/netns), `mounts` all bind mounts of it as "path" or "path (seen by process N)",
    `pids` the processes in it, lowest first, at most 1,000, `process_count` how many there are.
    """

    inode: int
    cookie: int | None = None
    names: tuple[str, ...] = ()
    mounts: tuple[str, ...] = ()
    pids: tuple[int, ...] = ()
    process_count: int = 0
    sources: tuple[NetnsSource, ...] = ()
