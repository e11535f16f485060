"""Where a client's packets start: the network namespace behind a vantage, and the networks that it has."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from netdiag.deployment.member import Deployment, Member, Network, NetworkKind, NetworkMode
from netdiag.deployment.naming import member_at, network_owner
from netdiag.deployment.platform import Generation, HostKind, Platform
from netdiag.deployment.vantage import Vantage, VantageKind

# Networks that stand on a device of the docker host, and share its wire.
_ON_WIRE = frozenset({"macvlan", "ipvlan"})
_ELSEWHERE = Network(key="", name="a network of its own")


class Ground(Enum):
    """What kind of namespace it is.

    USER_MACHINE is the machine of a Docker Desktop user, in front of the one that the engine runs in; NOWHERE a
    container that has only loopback.
    """

    DOCKER_HOST = "docker host"
    USER_MACHINE = "user's machine"
    LAN = "LAN"
    CONTAINER = "container"
    NOWHERE = "nowhere"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The namespace of a client. `owner` is the member whose it is, where there is one; `networks` in the engine's
    order: the first that is not internal has the default route."""

    ground: Ground
    owner: Member | None = None
    networks: tuple[Network, ...] = ()

    @property
    def egress(self) -> Network | None:
        """The network of the default route; None where all are internal."""
        return next((network for network in self.networks if not network.internal), None)

    def on(self, network: Network) -> bool:
        """Whether the client is on a network."""
        return any(own.key == network.key for own in self.networks)


def standing(deployment: Deployment, vantage: Vantage) -> Standing:
    """The namespace behind a vantage."""
    inside = member_at(deployment, vantage)
    owner = network_owner(deployment, inside) if inside else None
    if vantage.kind is VantageKind.LAN:
        return Standing(ground=Ground.LAN)
    if vantage.kind is VantageKind.DOCKER_HOST:
        desktop = deployment.platform.kind is HostKind.DESKTOP
        return Standing(ground=Ground.USER_MACHINE if desktop else Ground.DOCKER_HOST)
    if owner is None:
        networks = _networks(deployment, vantage.networks)
        return Standing(ground=Ground.CONTAINER, networks=networks or (_ELSEWHERE,))
    match owner.mode:
        case NetworkMode.HOST:
            return Standing(ground=Ground.DOCKER_HOST, owner=owner)
        case NetworkMode.NONE:
            return Standing(ground=Ground.NOWHERE, owner=owner)
        case NetworkMode.UNKNOWN | NetworkMode.SHARED:
            return Standing(ground=Ground.UNKNOWN, owner=owner)
        case NetworkMode.NETWORKS | NetworkMode.DEFAULT_BRIDGE:
            networks = _networks(deployment, (a.network for a in owner.attachments))
            ground = Ground.CONTAINER if networks else Ground.NOWHERE
            return Standing(ground=ground, owner=owner, networks=networks)


def network_of(deployment: Deployment, key: str) -> Network:
    """The network of that key; one that nobody describes is taken for a plain bridge."""
    return deployment.networks.get(key) or Network(key=key, name=key)


def outward(deployment: Deployment, member: Member) -> Network | None:
    """The network that a member's ports are published through; None where it is on internal ones only."""
    networks = (network_of(deployment, attachment.network) for attachment in member.attachments)
    return next((network for network in networks if not network.internal), None)


def on_wire(network: Network) -> bool:
    """Whether the containers of a network stand on the wire of a device of the docker host."""
    return network.driver in _ON_WIRE


def has_wire(network: Network) -> bool:
    """Whether that device is a real one: without a parent the engine makes a dummy, which leads nowhere."""
    return bool(network.parent) and not network.parent.startswith(("dm-", "di-"))


def has_unsure_mode(platform: Platform, network: Network) -> bool:
    """Whether a gateway mode is chosen on an engine of which only the last release (27) knows any."""
    return bool(network.gateway_mode) and platform.generation is Generation.V20


def is_bridge(network: Network) -> bool:
    """Whether the engine's bridge driver made a network."""
    return network.kind is not NetworkKind.OTHER and not on_wire(network)


def _networks(deployment: Deployment, keys: Iterable[str]) -> tuple[Network, ...]:
    networks = tuple(network_of(deployment, key) for key in keys)
    return networks if len(networks) < 2 else tuple(sorted(networks, key=lambda network: network.internal))
