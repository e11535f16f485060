"""Networks of the engine joined with bridges, and their endpoints with devices."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from netdiag.engine.container import Container, EndpointSettings
from netdiag.engine.network import EngineNetwork
from netdiag.topology.cables import peers
from netdiag.topology.graph import Member, NetworkView, Unmatched
from netdiag.topology.inventory import LinkId
from netdiag.topology.known import Known, plain
from netdiag.topology.naming import Naming

_BRIDGE = "bridge"
_ON_A_PARENT = ("macvlan", "ipvlan")
_DEFAULT_BRIDGE = "docker0"
# The way out of a swarm's networks: the engine keeps to itself who is on it.
GATEWAY_BRIDGE = "docker_gwbridge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Networks:
    """The views of all networks, and what of them has no counterpart."""

    views: tuple[NetworkView, ...]
    unmatched: tuple[Unmatched, ...]


def network_views(known: Known, naming: Naming, networks: Iterable[EngineNetwork]) -> Networks:
    """A view of every network, with a member for every container that the engine says is on it."""
    everything = tuple(networks)
    across = peers(known)
    devices = _host_devices(known)
    views = tuple(_view(known, across, devices, network) for network in everything)
    unmatched = (
        *(one for view in views for one in _without_device(known, naming, view)),
        *_unused_ports(known, naming, across, views),
        *_unknown_networks(known, naming, everything),
    )
    return Networks(views=views, unmatched=unmatched)


def device_name(network: EngineNetwork) -> str:
    """The interface that a network is on the docker host, or stands on; "" for one that has none there."""
    if network.driver in _ON_A_PARENT:
        return network.parent
    return network.bridge_name or (_DEFAULT_BRIDGE if network.default_bridge else "")


def _host_devices(known: Known) -> Mapping[str, LinkId]:
    facts = known.host_facts
    if facts is None:
        return {}
    inode = facts.netns.inode
    named = {name: link.ifindex for link in facts.links for name in (*link.altnames, link.ifname)}
    return {name: LinkId(netns=inode, ifindex=index) for name, index in named.items()}


def _view(
    known: Known, across: Mapping[LinkId, LinkId], devices: Mapping[str, LinkId], network: EngineNetwork
) -> NetworkView:
    bridge = devices.get(device_name(network))
    members = [
        _member(known, across, bridge, container, endpoint)
        for container in known.containers.values()
        for endpoint in container.networks
        if _is_on(endpoint, network)
    ]
    return NetworkView(network=network, bridge=bridge, members=tuple(members))


def _is_on(endpoint: EndpointSettings, network: EngineNetwork) -> bool:
    """By id: a network may have been made anew under its old name, and a stopped container still mean the old one."""
    return endpoint.network_id == network.id if endpoint.network_id else endpoint.network == network.name


def _member(
    known: Known,
    across: Mapping[LinkId, LinkId],
    bridge: LinkId | None,
    container: Container,
    endpoint: EndpointSettings,
) -> Member:
    netns = known.netns_of.get(container.id)
    inside = None
    if netns is not None:
        found = (known.by_address.get((netns, plain(address))) for address in endpoint.addresses)
        inside = next((at for at in found if at is not None), None)
    port = None if inside is None else across.get(inside)
    if port is not None and (
        bridge is None or known.links[port].master != bridge.ifindex or port.netns != bridge.netns
    ):
        port = None
    address = endpoint.addresses[0] if endpoint.addresses else ""
    return Member(container=container.id, address=address, inside=inside, port=port)


def _without_device(known: Known, naming: Naming, view: NetworkView) -> Iterator[Unmatched]:
    network = view.network
    name = device_name(network)
    if known.host_facts is not None and view.bridge is None and name:
        what = "bridge" if network.driver == _BRIDGE else "parent"
        yield Unmatched(
            subject=f"network {network.name}", because=f"its {what} {name} is not on {naming.place(known.host or 0)}"
        )
    for member in view.members:
        container = known.containers[member.container]
        subject = f"{naming.container(container)} on network {network.name}"
        facts = known.entered(known.netns_of.get(member.container))
        if not member.address or facts is None:
            continue
        if member.inside is None:
            where = naming.place(facts.netns.inode)
            yield Unmatched(subject=subject, because=f"no device of {where} has its address {member.address}")
        elif member.port is None and network.driver == _BRIDGE and view.bridge is not None:
            yield Unmatched(
                subject=subject, because=_why_no_port(known, naming, view, member.inside), link=member.inside
            )


def _why_no_port(known: Known, naming: Naming, view: NetworkView, inside: LinkId) -> str:
    """Why an inside device does not hang from the bridge of its network."""
    device = naming.device(inside)
    port = known.ends.get(inside)
    if port is None or port not in known.links:
        return f"the other end of {device} cannot be seen"
    master = known.links[port].master
    bridge = naming.device(view.bridge) if view.bridge is not None else "its bridge"
    if master is None:
        return f"{naming.device(port)}, the other end of {device}, is no port of {bridge}"
    other = naming.device(LinkId(netns=port.netns, ifindex=master))
    return f"{naming.device(port)}, the other end of {device}, is a port of {other} instead of {bridge}"


def _unused_ports(
    known: Known, naming: Naming, across: Mapping[LinkId, LinkId], views: Iterable[NetworkView]
) -> Iterator[Unmatched]:
    """Ports of the engine's bridges that lead to no container that is on the network."""
    for view in views:
        if view.bridge is None or view.network.driver != _BRIDGE or view.network.name == GATEWAY_BRIDGE:
            continue
        used = {member.port for member in view.members}
        for at, link in known.links.items():
            if at.netns != view.bridge.netns or link.master != view.bridge.ifindex or at in used:
                continue
            end = across.get(at)
            if end is None and link.kind == "veth":
                # Told already as a pair without its end.
                continue
            where = "" if end is None else f": its other end is {naming.device(end)}"
            because = f"a port of {naming.device(view.bridge)} that is no container's on network {view.network.name}"
            yield Unmatched(subject=naming.device(at), because=f"{because}{where}", link=at)


def _unknown_networks(known: Known, naming: Naming, networks: tuple[EngineNetwork, ...]) -> Iterator[Unmatched]:
    for container in known.containers.values():
        for endpoint in container.networks:
            if not any(_is_on(endpoint, network) for network in networks) and networks:
                subject = f"{naming.container(container)} on network {endpoint.network}"
                yield Unmatched(subject=subject, because="the engine has no such network any more")
