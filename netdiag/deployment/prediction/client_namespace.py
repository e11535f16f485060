"""The network namespace of a client: the networks that it is on, and what a host name means in it.

A name is resolved as Docker's embedded DNS, hosts files and literal addresses would. The answer is symbolic: "this
member's address on that network" is known long before the engine hands out a number. A container asks its own hosts
file first (own hostname, `extra_hosts`), then the embedded DNS, which knows the members of the container's
user-defined networks and stops at the first network that has the name. The docker host and the LAN know none of these
names. What a name means that no member has is up to the client's own resolver, a company's name server or the hosts
file of a machine: `Undeclared`, unless the user declares it (`Facts.resolves`).
"""

import ipaddress
from collections.abc import Iterable
from enum import Enum

from netdiag.deployment.model.causes import name_of_stopped
from netdiag.deployment.model.deployment import (
    Deployment,
    Generation,
    HostKind,
    Member,
    Network,
    NetworkKind,
    NetworkMode,
    Platform,
    State,
)
from netdiag.deployment.model.vantage import DOCKER_HOST, Vantage, VantageKind
from netdiag.deployment.model.verdict import Failed, Mechanism, Unknown, unresolved
from netdiag.deployment.prediction.podman import HOST_NAME, has_dockers_name, resolves_host_gateway
from netdiag.kafka.listeners import is_loopback, is_wildcard
from netdiag.values import dataclass

HOST_ALIASES = ("host.docker.internal", "gateway.docker.internal")
# Networks that stand on a device of the docker host, and share its wire.
_PARENT_DRIVERS = frozenset({"macvlan", "ipvlan"})
_GATEWAY_BRIDGE = "docker_gwbridge"
_UNSHARED_NETWORK = Network(key="", name="a network of its own")


class Family(Enum):
    """Of loopback addresses: a name stands for both, and a client takes the one that accepts."""

    ANY = "any"
    IPV4 = "IPv4"
    IPV6 = "IPv6"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loopback:
    """The client's own loopback interface."""

    family: Family = Family.ANY


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAddress:
    """The address of a member on a network; `six` where only the IPv6 one is meant."""

    member: str
    network: str
    six: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VacantAddress:
    """An address of a network that nobody has."""

    text: str
    network: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideAddress:
    """An address that nothing here explains: another machine's, or one that the engine has yet to give."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAddress:
    """The address of another node of a swarm, which runs members."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAddress:
    """An address of the docker host other than loopback; `gateway` where it is a bridge's own.

    `user_machine` where it is the machine in front of the virtual machine that the engine runs in.
    """

    text: str
    gateway: bool = False
    user_machine: bool = False


class Undeclared(Unknown):
    """A name that no member has: the client's own resolver decides."""

    __slots__ = ()


Target = Loopback | MemberAddress | HostAddress | NodeAddress | VacantAddress | OutsideAddress
Resolution = tuple[Target, ...] | Failed | Unknown


class NamespaceKind(Enum):
    """What kind of namespace it is.

    USER_MACHINE is the one in front of the virtual machine that the engine runs in; NOWHERE a container that has only
    loopback.
    """

    DOCKER_HOST = "docker host"
    USER_MACHINE = "user's machine"
    LAN = "LAN"
    CONTAINER = "container"
    NOWHERE = "nowhere"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientNamespace:
    """The namespace of a client. `owner` is the member whose it is, where there is one; `networks` in the engine's
    order: the first that is not internal has the default route."""

    ground: NamespaceKind
    owner: Member | None = None
    networks: tuple[Network, ...] = ()

    @property
    def egress(self) -> Network | None:
        """The network of the default route; None where all are internal. An overlay network has none."""
        outward = [network for network in self.networks if not network.internal]
        return next((network for network in outward if not network.spans_nodes), outward[0] if outward else None)

    def on(self, network: Network) -> bool:
        """Whether the client is on a network."""
        return any(own.key == network.key for own in self.networks)


def client_namespace(deployment: Deployment, vantage: Vantage) -> ClientNamespace:
    """The namespace behind a vantage."""
    inside = member_at(deployment, vantage)
    owner = network_owner(deployment, inside) if inside else None
    if vantage.kind is VantageKind.LAN:
        return ClientNamespace(ground=NamespaceKind.LAN)
    if vantage.kind is VantageKind.DOCKER_HOST:
        inside_vm = deployment.platform.virtual_machine is not None
        return ClientNamespace(ground=NamespaceKind.USER_MACHINE if inside_vm else NamespaceKind.DOCKER_HOST)
    if owner is None:
        networks = _networks(deployment, vantage.networks)
        return ClientNamespace(ground=NamespaceKind.CONTAINER, networks=networks or (_UNSHARED_NETWORK,))
    match owner.mode:
        case NetworkMode.HOST:
            return ClientNamespace(ground=NamespaceKind.DOCKER_HOST, owner=owner)
        case NetworkMode.NONE:
            return ClientNamespace(ground=NamespaceKind.NOWHERE, owner=owner)
        case NetworkMode.UNKNOWN | NetworkMode.SHARED:
            return ClientNamespace(ground=NamespaceKind.UNKNOWN, owner=owner)
        case NetworkMode.NETWORKS | NetworkMode.DEFAULT_BRIDGE:
            networks = with_gateway_bridge(deployment, _networks(deployment, (a.network for a in owner.attachments)))
            ground = NamespaceKind.CONTAINER if networks else NamespaceKind.NOWHERE
            return ClientNamespace(ground=ground, owner=owner, networks=networks)


def resolve(deployment: Deployment, vantage: Vantage, host: str) -> Resolution:
    """What `host` means at `vantage`; several targets stand in the order a client tries them."""
    if host == "localhost":
        return (Loopback(),)
    if is_loopback(host) or is_wildcard(host):
        # Linux connects 0.0.0.0 and :: to the machine itself.
        return (Loopback(family=_family(host)),)
    if host == DOCKER_HOST:
        return (HostAddress(text=host),)
    literal = _literal(host)
    if literal is not None:
        return _resolve_literal(deployment, literal)
    machine = deployment.platform.virtual_machine
    if machine is not None and machine.domain is not None and vantage.kind is not VantageKind.LAN:
        named = _in_domain(deployment, vantage, host, machine.domain)
        if named is not None:
            return named
    if vantage.kind is VantageKind.DOCKER_HOST or _in_host_network(deployment, vantage):
        inside = member_at(deployment, vantage)
        extra = network_owner(deployment, inside).extra_hosts.get(host) if inside else None
        if extra is not None:
            # The engine writes them into the container's own hosts file in host mode, too.
            return _resolve_extra_host(deployment, extra)
        where = "a node of a swarm" if deployment.platform.kind is HostKind.SWARM else "the docker host"
        because = f'{where} does not resolve "{host}"'
        if host in HOST_ALIASES and machine is None:
            because = f"{because} on Linux"
        return _by_own_resolver(deployment, host, unresolved(Mechanism.NO_EMBEDDED_DNS, because))
    if vantage.kind is VantageKind.LAN:
        because = f'machines on the LAN do not resolve "{host}"'
        return _by_own_resolver(deployment, host, unresolved(Mechanism.NO_EMBEDDED_DNS, because))
    return _resolve_in_container(deployment, vantage, host)


def why_nameless(deployment: Deployment, vantage: Vantage, host: str) -> str | None:
    """Why a host is taken for a mistake at a vantage; None where it resolves, or may.

    A bare name in a container is one that no container has; a name with a dot may be known to a name server, and a
    bare one to the docker host.
    """
    resolution = resolve(deployment, vantage, host)
    if isinstance(resolution, Failed):
        return resolution.because
    if not isinstance(resolution, Undeclared) or "." in host or _in_host_network(deployment, vantage):
        return None
    return f'no container has the name "{host}"'


def member_at(deployment: Deployment, vantage: Vantage) -> Member | None:
    """The member whose namespace the vantage stands in."""
    return deployment.by_name.get(vantage.member) if vantage.member is not None else None


def network_owner(deployment: Deployment, member: Member) -> Member:
    """The member whose network namespace this one uses: itself, unless it shares another's."""
    owner = deployment.owner_names.get(member.name)
    return member if owner is None else deployment.by_name[owner]


def covers(network: Network, text: str) -> bool:
    """Whether an address lies in a subnet of a network."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(in_subnet(subnet, address) for subnet in network.subnets)


def in_subnet(subnet: str, number: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether a subnet holds an address; a text that is no subnet holds none."""
    try:
        return number in ipaddress.ip_network(subnet, strict=False)
    except ValueError:
        return False


def network_of(deployment: Deployment, key: str) -> Network:
    """The network of that key; one that nobody describes is taken for a plain bridge."""
    return deployment.networks.get(key) or Network(key=key, name=key)


def publishing_network(deployment: Deployment, member: Member) -> Network | None:
    """The network that a member's ports are published through; None where it is on internal ones only."""
    networks = tuple(network_of(deployment, attachment.network) for attachment in member.attachments)
    outward = [network for network in with_gateway_bridge(deployment, networks) if not network.internal]
    return next((network for network in outward if not network.spans_nodes), outward[0] if outward else None)


def with_gateway_bridge(deployment: Deployment, networks: tuple[Network, ...]) -> tuple[Network, ...]:
    """The networks of a container, and the bridge by which it leaves its node where these are overlay networks only.

    The engine does not list it among the container's networks (libnetwork, default_gateway.go).
    """
    bridge = deployment.networks.get(_GATEWAY_BRIDGE)
    if bridge is None or not any(n.spans_nodes and not n.internal for n in networks):
        return networks
    return networks if any(is_bridge(n) and not n.internal for n in networks) else (*networks, bridge)


def uses_parent_device(network: Network) -> bool:
    """Whether the containers of a network stand on the wire of a device of the docker host."""
    return network.driver in _PARENT_DRIVERS


def has_real_parent(network: Network) -> bool:
    """Whether that device is a real one: without a parent the engine makes a dummy, which leads nowhere."""
    return bool(network.parent) and not network.parent.startswith(("dm-", "di-"))


def has_unsupported_gateway_mode(platform: Platform, network: Network) -> bool:
    """Whether a gateway mode is chosen on an engine of which only the last release (27) knows any."""
    return bool(network.gateway_mode) and platform.generation is Generation.V20


def is_bridge(network: Network) -> bool:
    """Whether the engine's bridge driver made a network."""
    return network.kind is not NetworkKind.OTHER and not uses_parent_device(network)


def _networks(deployment: Deployment, keys: Iterable[str]) -> tuple[Network, ...]:
    networks = tuple(network_of(deployment, key) for key in keys)
    return networks if len(networks) < 2 else tuple(sorted(networks, key=lambda network: network.internal))


def _family(host: str) -> Family:
    literal = _literal(host)
    if literal is None:
        return Family.ANY
    return Family.IPV6 if ":" in literal else Family.IPV4


def _literal(host: str) -> str | None:
    if not (host[:1].isdecimal() or ":" in host):
        return None
    try:
        return str(ipaddress.ip_address(host.partition("%")[0]))
    except ValueError:
        return None


def _resolve_literal(deployment: Deployment, literal: str) -> Resolution:
    if literal in deployment.host_addresses:
        return (HostAddress(text=literal),)
    if any(m.elsewhere is not None and m.elsewhere.address == literal for m in deployment.all_members):
        return (NodeAddress(text=literal),)
    bridges = [network for network in deployment.networks.values() if network.kind is not NetworkKind.OTHER]
    if any(literal in network.gateways for network in bridges):
        return (HostAddress(text=literal, gateway=True),)
    for member, attachment in deployment.members_by_address.get(literal, ()):
        return (MemberAddress(member=member.name, network=attachment.network, six=":" in literal),)
    # A macvlan network shares its subnet with machines of the LAN.
    for network in bridges:
        if covers(network, literal) and _all_addresses_known(deployment, network):
            return (VacantAddress(text=literal, network=network.key),)
    return (OutsideAddress(text=literal),)


def _all_addresses_known(deployment: Deployment, network: Network) -> bool:
    """Whether every address on a network is known: all that are on it run, and the engine has said where."""
    there = [(m, a) for m in deployment.all_members for a in m.attachments if a.network == network.key]
    started = all(m.state is not State.DECLARED and (a.addresses or m.state is State.STOPPED) for m, a in there)
    return bool(there) and started and not network.external


def _in_domain(deployment: Deployment, vantage: Vantage, host: str, domain: str) -> Resolution | None:
    """The containers with a name in the domain of a product: `container.DOMAIN`, or `service.project.DOMAIN`.

    None for a name that is not in it.
    """
    label = host.lower().rstrip(".").removesuffix(f".{domain}")
    if label == host.lower().rstrip("."):
        return None
    found = [
        member
        for member in deployment.all_members
        if label in (member.container or f"{member.project}-{member.service}-1", f"{member.service}.{member.project}")
        and deployment.is_running(member)
    ]
    if not found:
        return Unknown(because=f'no container here has the name "{host}" by default, but labels may give it one')
    networks = {attachment.network for member in found for attachment in member.attachments}
    if len(found) > 1 or len(networks) != 1:
        return Unknown(because=f'it is not documented which address "{host}" has')
    (network,) = networks
    inside = member_at(deployment, vantage)
    own = {attachment.network for attachment in inside.attachments} if inside else set(vantage.networks)
    if vantage.kind is not VantageKind.DOCKER_HOST and network not in own:
        return Unknown(because=f'it is not documented whether containers on other networks reach "{host}"')
    return (MemberAddress(member=found[0].name, network=network),)


def _in_host_network(deployment: Deployment, vantage: Vantage) -> bool:
    member = member_at(deployment, vantage)
    return member is not None and network_owner(deployment, member).mode is NetworkMode.HOST


def _resolve_extra_host(deployment: Deployment, address: str, networks: tuple[str, ...] = ()) -> Resolution:
    if address == "host-gateway" and deployment.platform.is_podman:
        match resolves_host_gateway(deployment.platform):
            case None:
                return Unknown(because="before 4.7, Podman does not know host-gateway")
            case False:
                because = "Podman before 4.7 writes host-gateway into the hosts file in the place of an address"
                return unresolved(Mechanism.HOST_ALIAS_MISSING, because)
            case True:
                return _own_gateway(deployment, networks, address)
    if address == "host-gateway":
        if deployment.platform.kind is HostKind.DESKTOP:
            return (HostAddress(text="host-gateway", gateway=True, user_machine=True),)
        return (HostAddress(text=_default_gateway(deployment) or "host-gateway", gateway=True),)
    if is_loopback(address):
        return (Loopback(family=_family(address)),)
    return _resolve_literal(deployment, address)


def _default_gateway(deployment: Deployment) -> str | None:
    """The docker host's address on the default bridge, which host-gateway stands for; None before the engine runs."""
    bridges = (n for n in deployment.networks.values() if n.kind is NetworkKind.DEFAULT_BRIDGE)
    return next((gateway for bridge in bridges for gateway in bridge.gateways if ":" not in gateway), None)


def _own_gateway(deployment: Deployment, networks: tuple[str, ...], host: str) -> Resolution:
    """The docker host as Podman calls it in a container: the gateway of a network of the container."""
    bridges = [network for network in _networks(deployment, networks) if is_bridge(network)]
    if deployment.platform.kind is not HostKind.PODMAN or not bridges:
        return Unknown(because=f'netdiag does not know which address "{host}" has in this container')
    known = next((gateway for gateway in bridges[0].gateways if ":" not in gateway), None)
    return (HostAddress(text=known or host, gateway=True),)


def _resolve_in_container(deployment: Deployment, vantage: Vantage, host: str) -> Resolution:
    inside = member_at(deployment, vantage)
    if inside is not None:
        inside = network_owner(deployment, inside)
        extra = inside.extra_hosts.get(host)
        if extra is not None:
            return _resolve_extra_host(deployment, extra, tuple(a.network for a in inside.attachments))
        if host in inside.hostnames and inside.attachments:
            return tuple(MemberAddress(member=inside.name, network=a.network) for a in inside.attachments)
        if host in inside.links:
            linked = inside.links[host]
            if linked is None:
                return Unknown(because=f'"{host}" is a link to a container that these files do not define')
            on_bridge = _linked_on_default_bridge(deployment, inside, linked)
            if on_bridge:
                return on_bridge
            host = linked
    networks = tuple(a.network for a in inside.attachments) if inside else vantage.networks
    for network in networks:
        if network in deployment.networks and deployment.networks[network].kind is NetworkKind.DEFAULT_BRIDGE:
            continue
        found = tuple(
            MemberAddress(member=member.name, network=network)
            for member in _members_called(deployment, network, host)
            # Whoever asks inside a container asks while it runs.
            if deployment.is_running(member) or member is inside
        )
        if any(host in deployment.by_name[one.member].shared_names for one in found):
            return Unknown(because=f'only a manager of the swarm tells who else has the name "{host}"')
        if found:
            return found
    return _not_found(deployment, vantage, networks, host)


def _linked_on_default_bridge(deployment: Deployment, member: Member, linked: str) -> tuple[MemberAddress, ...]:
    """The address of a linked container on the default bridge: the engine writes it into the hosts file."""
    other = deployment.by_name.get(linked)
    if other is None or not deployment.is_running(other):
        return ()
    bridges = [
        a.network
        for a in member.attachments
        if a.network in deployment.networks
        and deployment.networks[a.network].kind is NetworkKind.DEFAULT_BRIDGE
        and other.on(a.network) is not None
    ]
    return tuple(MemberAddress(member=linked, network=network) for network in bridges)


def _members_called(deployment: Deployment, network: str, host: str) -> tuple[Member, ...]:
    """Who answers to a name on a network: in any case of letters, and with the network's name behind a dot.

    With Podman, a domain of its own stands there.
    """
    found = deployment.members_by_network_name.get((network, host))
    if found:
        return found
    lowered = host.lower().rstrip(".")
    name = deployment.networks[network].name if network in deployment.networks else network
    domain = deployment.platform.domain or name.lower()
    bare = lowered.removesuffix(f".{domain}")
    if bare == host:
        return ()
    return tuple(
        m
        for (on, called), members in deployment.members_by_network_name.items()
        if on == network and called.lower() in (lowered, bare)
        for m in members
    )


def _not_found(deployment: Deployment, vantage: Vantage, networks: tuple[str, ...], host: str) -> Resolution:
    others = [deployment.networks[n] for n in networks if n in deployment.networks]
    if deployment.platform.ingress_ports is None and any(network.spans_nodes for network in others):
        return Unknown(because=f'only a manager of the swarm tells who has the name "{host}"')
    if any(_may_have_name(network, host) for network in others):
        kind = "attachable" if any(network.spans_nodes for network in others) else "external"
        return Unknown(because=f'an {kind} network may have a container called "{host}"')
    if deployment.platform.is_podman and host in (HOST_NAME, *HOST_ALIASES):
        return _name_of_podman_host(deployment, networks, host)
    machine = deployment.platform.virtual_machine
    if machine is not None and host in machine.aliases:
        return (HostAddress(text=host, user_machine=True),)
    if deployment.platform.kind is HostKind.DESKTOP and host in HOST_ALIASES:
        return (HostAddress(text=host, gateway=True),)
    if machine is not None and host in HOST_ALIASES:
        return Unknown(because=f'the documentation of {machine.product} does not say whether "{host}" resolves')
    if host in HOST_ALIASES:
        because = f'"{host}" needs an extra_hosts entry on Linux'
        return unresolved(Mechanism.HOST_ALIAS_MISSING, because)
    owners = deployment.members_by_any_name.get(host, ())
    if deployment.platform.kind is HostKind.SWARM and not owners:
        stack, _, service = host.removeprefix("tasks.").partition("_")
        if stack and any(member.service == service for member in deployment.all_members):
            return Unknown(because=f'"{host}" is a service of a stack called {stack}, which these files may become')
    named = next((m for m in deployment.all_members if m.is_named_by_template and any(map(m.on, networks))), None)
    if not owners and named is not None:
        return Unknown(because=f'"{host}" may be the hostname of a task of {named.name}, which a template makes')
    if not owners:
        nobody = unresolved(Mechanism.NO_SUCH_NAME, f'no container has the name "{host}"')
        return _by_own_resolver(deployment, host, nobody)
    if all(not deployment.is_running(member) for member in owners):
        because = name_of_stopped(host, owners[0].exit_code)
        return unresolved(Mechanism.NAME_OF_STOPPED, because, owners[0].container or owners[0].name)
    if networks and not any(_has_embedded_dns(deployment, network) for network in networks):
        because = f'the default bridge has no DNS that resolves "{host}"'
        return unresolved(Mechanism.NO_EMBEDDED_DNS, because)
    if not any(host in attachment.names for member in owners for attachment in member.attachments):
        because = f'the container named "{host}" is on no user-defined network, so its name does not resolve'
        return unresolved(Mechanism.NO_EMBEDDED_DNS, because)
    because = f'"{host}" is not on any network of this container'
    return unresolved(Mechanism.NAME_ON_OTHER_NETWORK, because)


def _name_of_podman_host(deployment: Deployment, networks: tuple[str, ...], host: str) -> Resolution:
    has_name = True if host == HOST_NAME else has_dockers_name(deployment.platform)
    if has_name is None or (has_name and host == "gateway.docker.internal"):
        return Unknown(because=f'the release of Podman decides whether "{host}" resolves')
    if has_name:
        return _own_gateway(deployment, networks, host)
    return unresolved(Mechanism.HOST_ALIAS_MISSING, f'"{host}" is {HOST_NAME} with this release of Podman')


def _by_own_resolver(deployment: Deployment, host: str, nobody: Failed) -> Resolution:
    """What a name means to a client whose networks do not have it; `nobody` is why it does not resolve."""
    known = deployment.facts.resolves
    declared = (
        host in deployment.members_by_any_name
        or host in HOST_ALIASES
        or any(host in member.all_names for member in deployment.inactive_members)
    )
    answer = known.get(host.lower().rstrip("."), None if declared else known.get("*"))
    if answer:
        return _resolve_extra_host(deployment, answer)
    if declared or answer is not None:
        return nobody
    return Undeclared(because=f'no file declares "{host}": the client\'s own resolver decides')


def _may_have_name(network: Network, host: str) -> bool:
    """Whether a container that is not shown here may have a name."""
    return network.external and (network.known_names is None or host in network.known_names)


def _has_embedded_dns(deployment: Deployment, network: str) -> bool:
    found = deployment.networks.get(network)
    return found is None or found.kind is not NetworkKind.DEFAULT_BRIDGE
