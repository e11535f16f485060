"""What Podman as root does otherwise than Docker (rows p1 and following of docs/reachability.md).

Published ports are DNAT rules of netavark, with no proxy behind them; conmon only holds each port with a socket that it
never accepts from. So where no rule applies, a client is connected and hears nothing. The names of containers are
aardvark-dns's, and every container has `host.containers.internal` in its hosts file.
Measured with Podman 4.3.1, netavark 1.4 and aardvark-dns 1.4. Sources of what later releases change: podman,
RELEASE_NOTES.md (4.7: host-gateway), podman-run(1) of 5.4 (host.docker.internal); netavark, RELEASE_NOTES.md (2.0:
networks keep each other out by default).
"""

from netdiag.deployment.model.deployment import HostKind, Network, NetworkKind, Platform, PublishedPort
from netdiag.deployment.model.verdict import Failed, Mechanism, Unknown, timed_out

HOST_NAME = "host.containers.internal"
_KNOWS_HOST_GATEWAY = (4, 7)
_HAS_DOCKERS_NAME = (5, 4)
_MEASURED_TO = (4, 3)
_ISOLATES = (6, 0)
ROOTLESS_UNKNOWN = Unknown(because="netdiag does not model what rootless Podman forwards")


def is_rootful(platform: Platform) -> bool:
    """Whether the engine is Podman as root."""
    return platform.kind is HostKind.PODMAN


def resolves_host_gateway(platform: Platform) -> bool | None:
    """Whether `host-gateway` in extra_hosts becomes an address, and not a line that no resolver understands."""
    return None if platform.podman is None else platform.podman >= _KNOWS_HOST_GATEWAY


def has_dockers_name(platform: Platform) -> bool | None:
    """Whether containers have host.docker.internal as well; None where nobody says."""
    if platform.podman is None or _MEASURED_TO < platform.podman < _HAS_DOCKERS_NAME:
        return None
    return platform.podman >= _HAS_DOCKERS_NAME


def between_networks(platform: Platform, ways: tuple[Network, ...], network: Network) -> Failed | Unknown | None:
    """What a container meets on its way to another network by one of `ways`; None where it is let through.

    Two networks that are isolated keep each other out, and one that is not keeps nobody out.
    """
    if network.internal:
        return timed_out(Mechanism.NETWORK_ISOLATION, f"{network.name} is internal, and no packets are let in")
    found = {_keep_out(platform, way, network) for way in ways}
    if found == {False}:
        return None
    if found == {True}:
        return timed_out(Mechanism.NETWORK_ISOLATION, "Podman drops packets between isolated networks")
    return Unknown(because=f"what created {network.name} decides whether Podman lets other networks in")


def _keep_out(platform: Platform, one: Network, other: Network) -> bool | None:
    sides = {_is_isolated(platform, one), _is_isolated(platform, other)}
    if platform.podman is not None and platform.podman >= _ISOLATES:
        return True if sides == {True} else None
    if False in sides:
        return False
    return None if None in sides else True


def _is_isolated(platform: Platform, network: Network) -> bool | None:
    """`docker compose` isolates the networks that it creates, `podman network create` and podman-compose do not."""
    if network.kind is NetworkKind.DEFAULT_BRIDGE and platform.podman is not None and platform.podman < _ISOLATES:
        return False
    return network.isolated


def held_port(port: PublishedPort, address: str | None, because: str, mechanism: Mechanism) -> Failed | None:
    """A port that conmon holds though no rule leads to the container; None at addresses where nobody holds it.

    `address` is one of the docker host, None for its loopback of IPv4.
    """
    there = port.on_loopback if address is None else port.on_all_addresses or port.host_ip == address
    if not there:
        return None
    return timed_out(mechanism, f"{because}: Podman holds port {port.published}, but nothing leads on from there")
