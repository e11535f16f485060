"""What was found on a machine, as values; nothing here judges."""

from collections.abc import Mapping
from enum import Enum

from netdiag.values import dataclass


class Trouble(Enum):
    """Why an engine does not answer."""

    NOBODY = "nobody is there"
    FORBIDDEN = "we may not ask"
    OTHER = "something else"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something looked for: its version or place, or why it cannot be used, and what to do where that is known."""

    what: str = ""
    why_not: str = ""
    fix: str = ""
    trouble: Trouble = Trouble.OTHER

    @property
    def is_there(self) -> bool:
        """Whether it can be used."""
        return not self.why_not


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The machine, this process's rights on it, and what is installed.

    `system` is `platform.system()`; `families` the ids of os-release, closest first ("debian"). `rights` are names of
    capabilities in effect, without CAP_. `tools` and `libraries`: name -> where or which version, None where there is
    none. `namespaces`: entering a network namespace was tried on our own. `free_bytes`: of the folder where temporary
    files go. `capture_engine`: what reads captures.
    """

    system: str
    kernel: str
    families: tuple[str, ...]
    python: str
    netdiag: str
    is_root: bool
    rights: frozenset[str]
    engine: Found
    namespaces: Found
    packet_socket: Found
    java: Found
    capture_engine: Found
    tools: Mapping[str, str | None]
    libraries: Mapping[str, str | None]
    temporary: str
    free_bytes: int
    memory_bytes: int
