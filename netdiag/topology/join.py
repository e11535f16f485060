"""Join the kernel's inventory with the engine's containers and networks and with Kafka's listeners.

Nothing is judged here. What has no counterpart stays in the topology and is listed in `unmatched`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from netdiag.engine.container import Container, EndpointSettings, EngineNetwork, Status
from netdiag.linux.sockets import Listener, Protocol
from netdiag.topology.graph import Cable, CableKind, KafkaListener, Member, NetworkView, Published, Topology, Unmatched
from netdiag.topology.inventory import Inventory, LinkId
from netdiag.topology.places import (
    HOST,
    PAIRED,
    JoinIndex,
    canonical_address,
    container_name,
    owner_of,
    unseen_containers,
)
from netdiag.topology.published_ports import GATEWAY_BRIDGE, published_ports

if TYPE_CHECKING:
    from netdiag.deployment.model.deployment import Broker, Deployment
    from netdiag.kafka.listeners import ListenerEntry

_BRIDGE = "bridge"
_DRIVERS_WITH_PARENT = ("macvlan", "ipvlan")
_DEFAULT_BRIDGE = "docker0"


def join(
    inventory: Inventory,
    *,
    containers: Iterable[Container] = (),
    networks: Iterable[EngineNetwork] = (),
    deployment: "Deployment | None" = None,
    docker_host: int | None = None,
    engine: str = "",
    userland_proxy: bool | None = None,
) -> Topology:
    """The topology of an inventory.

    `docker_host` is the namespace of the engine that was asked, None without an engine on this kernel; then nothing
    that the engine reports is looked for in the inventory. Containers without a process are kept, and are in no place.
    """
    index = JoinIndex(inventory=inventory, containers={c.id: c for c in containers}, docker_host=docker_host)
    engine_networks = tuple(networks)
    views = network_views(index, engine_networks)
    ports, unmatched_ports = published_ports(index, engine_networks)
    listeners = tuple(kafka_listeners(index, deployment, ports))
    return Topology(
        inventory=inventory,
        places=index.places,
        cables=find_cables(index),
        networks=views,
        published=ports,
        listeners=listeners,
        unmatched=(
            *unseen_containers(index),
            *links_without_end(index),
            *unmatched_networks(index, engine_networks, views),
            *unmatched_ports,
            *listeners_without_socket(index, listeners),
        ),
        host=HOST if docker_host in inventory.namespaces else "",
        engine=engine,
        userland_proxy=userland_proxy,
        containers=index.containers,
        deployment=deployment,
    )


def find_cables(index: JoinIndex) -> tuple[Cable, ...]:
    """Every pair once, then every port and every parent, in the order of the links."""
    links = index.links
    peers = sorted(index.peers.items())
    pairs = (Cable(kind=CableKind(links[at].kind), a=at, b=end) for at, end in peers if at < end)
    masters = (
        (at, LinkId(netns=at.netns, ifindex=link.master)) for at, link in links.items() if link.master is not None
    )
    ports = (Cable(kind=CableKind.PORT, a=at, b=master) for at, master in sorted(masters) if master in links)
    parents = (
        Cable(kind=CableKind.PARENT, a=at, b=end)
        for at, end in sorted(index.ends.items())
        if links[at].kind not in PAIRED and end in links
    )
    return (*pairs, *ports, *parents)


def links_without_end(index: JoinIndex) -> Iterator[Unmatched]:
    """Links whose other end or parent cannot be seen, and pairs whose ends do not name each other."""
    for at, link in index.links.items():
        end = index.ends.get(at)
        if link.kind not in PAIRED:
            if (link.link is None and end is None) or end in index.links:
                continue
            because = "the device below it is not visible from here"
        elif end is None or end not in index.links:
            because = "its peer is in a namespace that is not visible from here"
        elif index.ends.get(end) != at:
            other = index.link_name(end)
            because = f"its peer, {other}, does not point back: one of them changed while netdiag read them"
        else:
            continue
        yield Unmatched(subject=index.link_name(at), because=because, link=at)


def network_views(index: JoinIndex, networks: Iterable[EngineNetwork]) -> tuple[NetworkView, ...]:
    """A view of every network, with a member for every container that the engine reports on it."""
    host_links: dict[str, LinkId] = {}
    if (facts := index.host_facts) is not None:
        names = {name: link.ifindex for link in facts.links for name in (*link.altnames, link.ifname)}
        host_links = {name: LinkId(netns=facts.netns.inode, ifindex=ifindex) for name, ifindex in names.items()}
    return tuple(_view(index, host_links.get(interface_name(network)), network) for network in networks)


def interface_name(network: EngineNetwork) -> str:
    """The docker host's bridge of a network, or its parent interface; "" for a network that has neither."""
    if network.driver in _DRIVERS_WITH_PARENT:
        return network.parent
    return network.bridge_name or (_DEFAULT_BRIDGE if network.default_bridge else "")


def _view(index: JoinIndex, bridge: LinkId | None, network: EngineNetwork) -> NetworkView:
    members = (
        _member(index, bridge, container, endpoint)
        for container in index.containers.values()
        for endpoint in container.networks
        if _is_on(endpoint, network)
    )
    return NetworkView(network=network, bridge=bridge, members=tuple(members))


def _is_on(endpoint: EndpointSettings, network: EngineNetwork) -> bool:
    """By id: a stopped container may mean a network that was removed and created again under the same name."""
    return endpoint.network_id == network.id if endpoint.network_id else endpoint.network == network.name


def _member(index: JoinIndex, bridge: LinkId | None, container: Container, endpoint: EndpointSettings) -> Member:
    netns = index.netns_of.get(container.id)
    inside = None
    if netns is not None:
        found = (index.by_address.get((netns, canonical_address(address))) for address in endpoint.addresses)
        inside = next((at for at in found if at is not None), None)
    port = None if inside is None else index.peers.get(inside)
    if port is not None and (bridge is None or (port.netns, index.links[port].master) != bridge):
        port = None
    address = endpoint.addresses[0] if endpoint.addresses else ""
    return Member(container=container.id, address=address, inside=inside, port=port)


def unmatched_networks(
    index: JoinIndex, networks: tuple[EngineNetwork, ...], views: tuple[NetworkView, ...]
) -> Iterator[Unmatched]:
    """Networks without an interface, members without a link, bridge ports without a member, removed networks."""
    for view in views:
        yield from _without_link(index, view)
    yield from _unused_ports(index, views)
    for container in index.containers.values() if networks else ():
        for endpoint in container.networks:
            if not any(_is_on(endpoint, network) for network in networks):
                subject = f"{container_name(container)} on network {endpoint.network}"
                yield Unmatched(subject=subject, because="the engine no longer has this network")


def _without_link(index: JoinIndex, view: NetworkView) -> Iterator[Unmatched]:
    network, name = view.network, interface_name(view.network)
    # Podman makes a bridge for the first container, and removes it after the last.
    waits = name.startswith("podman") and not any(member.address for member in view.members)
    if index.host_facts is not None and view.bridge is None and name and not waits:
        what = "bridge" if network.driver == _BRIDGE else "parent"
        where = index.place_name(index.host_facts.netns.inode)
        yield Unmatched(subject=f"network {network.name}", because=f"its {what} {name} is not on {where}")
    for member in view.members:
        subject = f"{container_name(index.containers[member.container])} on network {network.name}"
        facts = index.entered(index.netns_of.get(member.container))
        if not member.address or facts is None:
            continue
        if member.inside is None:
            where = index.place_name(facts.netns.inode)
            yield Unmatched(subject=subject, because=f"no device of {where} has its address {member.address}")
        elif member.port is None and network.driver == _BRIDGE and view.bridge is not None:
            because = _why_no_port(index, view.bridge, member.inside)
            yield Unmatched(subject=subject, because=because, link=member.inside)


def _why_no_port(index: JoinIndex, bridge: LinkId, inside: LinkId) -> str:
    """Why a container's link does not lead to a port of the bridge of its network."""
    device = index.link_name(inside)
    port = index.ends.get(inside)
    if port is None or port not in index.links:
        return f"the peer of {device} is not visible"
    master = index.links[port].master
    port_of = index.link_name(bridge)
    if master is None:
        return f"{index.link_name(port)}, the peer of {device}, is not a port of {port_of}"
    other = index.link_name(LinkId(netns=port.netns, ifindex=master))
    return f"{index.link_name(port)}, the peer of {device}, is a port of {other} instead of {port_of}"


def _unused_ports(index: JoinIndex, views: Iterable[NetworkView]) -> Iterator[Unmatched]:
    """Ports of the engine's bridges that lead to no container on the network."""
    for view in views:
        if view.bridge is None or view.network.driver != _BRIDGE or view.network.name == GATEWAY_BRIDGE:
            continue
        used = {member.port for member in view.members}
        for at, link in index.links.items():
            if (at.netns, link.master) != view.bridge or at in used:
                continue
            end = index.peers.get(at)
            if end is None and link.kind == "veth":
                # Listed already as a pair without its end.
                continue
            where = "" if end is None else f": its peer is {index.link_name(end)}"
            because = (
                f"a port of {index.link_name(view.bridge)} that belongs to no container on network {view.network.name}"
            )
            yield Unmatched(subject=index.link_name(at), because=f"{because}{where}", link=at)


def kafka_listeners(
    index: JoinIndex, deployment: "Deployment | None", published: tuple[Published, ...]
) -> Iterator[KafkaListener]:
    """The listeners of all brokers whose configuration is known, in the order of the deployment."""
    by_name = {container.name: container for container in index.containers.values()}
    for broker in deployment.serving if deployment is not None else ():
        container = by_name.get(broker.member.container or "")
        for entry in broker.config.listeners:
            # A broker does not start with a second listener of the same name.
            if broker.config.listener_by_name[entry.endpoint.listener] is entry:
                yield _listener(index, broker, container, entry, published)


def listeners_without_socket(index: JoinIndex, listeners: Iterable[KafkaListener]) -> Iterator[Unmatched]:
    """The listeners of running brokers on whose port no socket listens."""
    for listener in listeners:
        container = index.containers.get(listener.container)
        if listener.bound == () and container is not None and container.state.status is Status.RUNNING:
            because = f"no socket of {container_name(container)} listens on port {listener.bind[1]}"
            yield Unmatched(subject=f"listener {listener.key}", because=because)


def _listener(
    index: JoinIndex,
    broker: "Broker",
    container: Container | None,
    entry: "ListenerEntry",
    published: tuple[Published, ...],
) -> KafkaListener:
    config, name, port = broker.config, entry.endpoint.listener, entry.endpoint.port
    advertised = config.advertised_by_name.get(name)
    sockets = _sockets(index, container, port)
    return KafkaListener(
        key=f"{broker.name}/{name}",
        broker=broker.name,
        container="" if container is None else container.id,
        node_id=config.node_id,
        listener=name,
        security_protocol=config.protocol_map.get(name, ""),
        bind=(entry.endpoint.host, port),
        advertised=None if advertised is None else (advertised.endpoint.host, advertised.endpoint.port),
        controller=name in config.controller_names,
        bound=None if sockets is None else tuple(dict.fromkeys(s.address for s in sockets)),
        pids=tuple(dict.fromkeys(pid for s in sockets or () for pid in s.pids)),
        published=() if container is None else tuple(_published_as(index.containers, container, port, published)),
    )


def _sockets(index: JoinIndex, container: Container | None, port: int) -> tuple[Listener, ...] | None:
    facts = None if container is None else index.entered(index.netns_of.get(container.id))
    if facts is None:
        return None
    return tuple(one for one in facts.listeners if one.port == port and one.protocol is Protocol.TCP)


def _published_as(
    containers: Mapping[str, Container], container: Container, port: int, published: tuple[Published, ...]
) -> Iterator[str]:
    """The published ports of the container whose network the broker uses: its own, or another's that it shares."""
    owner = owner_of(container, containers) or container.id
    for one in published:
        if one.container in (container.id, owner) and one.target == port and one.protocol == "tcp":
            yield one.key
