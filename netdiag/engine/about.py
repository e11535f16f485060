"""What an engine says about itself and about its machine."""

from datetime import UTC, datetime

from netdiag.engine.container import flag, text
from netdiag.engine.podman import is_podman
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineHost:
    """The engine's machine, its system and its kernel by name; `firewall` is told by engine 29 and newer.

    `time` is what its clock shows; None where it does not tell. `node` is the id that it has in a swarm, "" where it is
    in none; `is_manager`: it tells of the swarm's tasks.
    `is_podman` is whether the engine is Podman, `rootless` whether it runs as a user.
    """

    name: str
    system: str
    kernel: str
    firewall: str
    time: datetime | None = None
    node: str = ""
    is_manager: bool = False
    is_podman: bool = False
    rootless: bool = False


def parse_host(document: object) -> EngineHost:
    """The answer to /info."""
    return EngineHost(
        name=text(document, "Name"),
        system=text(document, "OperatingSystem"),
        kernel=text(document, "KernelVersion"),
        firewall=text(document, "FirewallBackend", "Driver"),
        time=_time(text(document, "SystemTime")),
        node=text(document, "Swarm", "NodeID"),
        is_manager=flag(document, "Swarm", "ControlAvailable"),
        is_podman=is_podman(document),
        rootless=flag(document, "Rootless"),
    )


def release_of(document: object) -> str:
    """The release of the answer to /version: "20.10.24", or "Podman 4.3.1"."""
    version = text(document, "Version")
    return f"Podman {version}" if is_podman(document) else version


def _time(written: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(written)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
