"""What an engine says about itself and about its machine."""

from netdiag.engine.container import text
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineHost:
    """The engine's machine, its system and its kernel by name; `firewall` is told by engine 29 and newer."""

    name: str
    system: str
    kernel: str
    firewall: str


def parse_host(document: object) -> EngineHost:
    """The answer to /info."""
    return EngineHost(
        name=text(document, "Name"),
        system=text(document, "OperatingSystem"),
        kernel=text(document, "KernelVersion"),
        firewall=text(document, "FirewallBackend", "Driver"),
    )
