"""Which network namespace is meant, before anybody enters it."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNamespace:
    """The one this process is in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessNamespace:
    """The one of a process; with `container_id` it must prove to belong to that container."""

    pid: int
    container_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedNamespace:
    """One that `ip netns add` named; names that are paths are none."""

    name: str

    @property
    def valid(self) -> bool:
        """Whether it can be a file name in /run/netns."""
        return re.fullmatch(r"(?!\.{1,2}$)[^/\x00]{1,255}", self.name) is not None


Entrance = OwnNamespace | ProcessNamespace | NamedNamespace
