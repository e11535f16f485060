"""Who reaches a Kafka listener by which address: a walk for every place that matters.

From a machine elsewhere on the docker host's network, too. Where none is seen here it is made up: with an address of
the same network, no routes but the one to it, and no name service that is known.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Interface, ip_interface

from netdiag.linux.address import InterfaceAddress
from netdiag.linux.kernel_settings import KernelSettings
from netdiag.linux.link import IFF_LOOPBACK, IFF_LOWER_UP, IFF_UP, Link
from netdiag.linux.netns import Netns
from netdiag.linux.route import NextHop, Route, RoutingRule
from netdiag.topology.asking import Names, names_of
from netdiag.topology.graph import KafkaListener, Place, PlaceKind, Published, Reach, Topology
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts
from netdiag.topology.path import Walker

ELSEWHERE = "elsewhere"
MOST_WALKS = 2000
_MOST_PLACES = 20
_MADE_UP = 0
_LADDR = "02:00:00:00:00:fe"
_UP = IFF_UP | IFF_LOWER_UP
_BROADCAST_PORT = 2


def with_reach(topology: Topology, names: Names | None = None) -> Topology:
    """With `reach` filled; where there are many containers `reach_note` says which stand for others."""
    sources, note = _sources(topology)
    inventory, elsewhere = _with_elsewhere(topology)
    if elsewhere is not None and all(netns != elsewhere for _, netns in sources):
        sources.insert(1, (ELSEWHERE, elsewhere))
    walker = Walker(replace(topology, inventory=inventory), names or names_of(topology))
    ways = list(_ways(topology))
    many = bool(note)
    found: list[Reach] = []
    for name, netns in sources:
        if len(found) + len(ways) > MOST_WALKS:
            note = f"shown from the first places only: {MOST_WALKS} ways are enough to look at"
            break
        found += [_reach(walker, way, name, netns) for way in ways]
    if many:
        found += [_reach(walker, way, *own) for way in ways if (own := _own_place(topology, way[0], sources))]
    return replace(topology, reach=tuple(found), reach_note=note)


# A listener with an address to dial: host, port, whether it is the one that clients are told.
_Way = tuple[KafkaListener, str, int, bool]


def _ways(topology: Topology) -> Iterator[_Way]:
    published = {one.key: one for one in topology.published}
    for listener in topology.listeners:
        if not listener.controller and listener.advertised is not None:
            for address, port, advertised in _addresses(topology, listener, published):
                yield listener, address, port, advertised


def _reach(walker: Walker, way: _Way, source: str, netns: int) -> Reach:
    listener, address, port, advertised = way
    return Reach(
        listener=listener.key,
        source=source,
        destination=address,
        port=port,
        advertised=advertised,
        path=walker.walk(netns, address, port),
    )


def _sources(topology: Topology) -> tuple[list[tuple[str, int]], str]:
    """The docker host and the containers that are on a network; of many, one for each set of networks."""
    networks: dict[str, set[str]] = {}
    for view in topology.networks:
        for member in view.members:
            networks.setdefault(member.container, set()).add(view.network.id)
    host = [(place.name, place.netns) for place in topology.places if place.name == topology.host]
    containers = [
        (place, on)
        for place in topology.places
        if place.kind is PlaceKind.CONTAINER
        if (on := frozenset(network for one in place.containers for network in networks.get(one, ())))
    ]
    if len(containers) < _MOST_PLACES:
        return [*host, *((place.name, place.netns) for place, _ in containers)], ""
    standing: dict[frozenset[str], Place] = {}
    for place, on in containers:
        standing.setdefault(on, place)
    note = f"{len(standing)} containers stand for {len(containers)}: one for each set of networks, and each broker"
    return [*host, *((place.name, place.netns) for place in standing.values())], note


def _own_place(
    topology: Topology, listener: KafkaListener, sources: Sequence[tuple[str, int]]
) -> tuple[str, int] | None:
    """Where the broker itself is, if nobody has looked from there."""
    place = next((one for one in topology.places if listener.container in one.containers), None)
    return (place.name, place.netns) if place is not None and (place.name, place.netns) not in sources else None


def _host(topology: Topology) -> int | None:
    place = topology.named(topology.host) if topology.host else None
    return place.netns if place else None


def _addresses(
    topology: Topology, listener: KafkaListener, published: Mapping[str, Published]
) -> Iterator[tuple[str, int, bool]]:
    """What clients are told, then where the listener's port is published."""
    assert listener.advertised is not None
    seen = {listener.advertised}
    yield (*listener.advertised, True)
    for key in listener.published:
        port = published.get(key)
        if port is None or not port.in_force:
            continue
        host = _outside(topology) if port.host_ip in ("", "0.0.0.0") else port.host_ip
        if host and host not in ("::",) and (host, port.published) not in seen:
            seen.add((host, port.published))
            yield host, port.published, False


def _outside(topology: Topology) -> str:
    """The address by which others know the docker host."""
    found = _outside_device(topology)
    return str(found[1].ip) if found else "127.0.0.1"


def _outside_device(topology: Topology) -> tuple[Link, IPv4Interface] | None:
    """The docker host's way to other machines: the device of its default route, else the first that is no bridge's."""
    host = _host(topology)
    facts = topology.inventory.namespaces.get(host) if host is not None else None
    if facts is None:
        return None
    ours = {view.bridge.ifindex for view in topology.networks if view.bridge and view.bridge.netns == host}
    default = [
        hop.ifindex
        for route in facts.routes
        if route.destination == "0.0.0.0/0" and route.type == "unicast"
        for hop in route.hops
    ]
    usable = [
        (link, interface)
        for link in facts.links
        if link.up and not link.loopback and link.ifindex not in ours and link.kind != "bridge"
        for address in facts.addresses
        if address.ifindex == link.ifindex and address.scope == 0 and ":" not in address.address
        if isinstance(interface := ip_interface(f"{address.address}/{address.prefix_length}"), IPv4Interface)
    ]
    return min(usable, key=lambda one: (one[0].ifindex not in default, one[0].ifindex), default=None)


def _with_elsewhere(topology: Topology) -> tuple[Inventory, int | None]:
    """The namespace that stands for other machines, and an inventory that has it."""
    inventory, host = topology.inventory, _host(topology)
    found = _outside_device(topology)
    if found is None or host is None:
        return inventory, None
    link, interface = found
    facts = inventory.namespaces[host]
    end = facts.ends.get(link.ifindex)
    if end is not None and end.netns in inventory.namespaces:
        return inventory, end.netns
    address = _free(interface, facts)
    if address is None:
        return inventory, None
    here, there = LinkId(netns=host, ifindex=link.ifindex), LinkId(netns=_MADE_UP, ifindex=_BROADCAST_PORT)
    links = tuple(replace(one, kind="veth") if one.ifindex == link.ifindex else one for one in facts.links)
    neighbours = tuple(n for n in facts.neighbours if (n.ifindex, n.address) != (link.ifindex, address))
    changed = replace(facts, links=links, neighbours=neighbours, ends={**facts.ends, link.ifindex: there})
    made_up = _machine(address, interface.network.prefixlen, here)
    return replace(inventory, namespaces={**inventory.namespaces, host: changed, _MADE_UP: made_up}), _MADE_UP


def _free(interface: IPv4Interface, facts: NamespaceFacts) -> str | None:
    """An address of the network that is not known to be somebody's."""
    if interface.network.prefixlen > 30:
        return None
    taken = {a.address for a in facts.addresses} | {n.address for n in facts.neighbours}
    taken |= {hop.gateway for route in facts.routes for hop in route.hops}
    last = int(interface.network.broadcast_address)
    candidates = (str(type(interface.ip)(bits)) for bits in range(last - 1, max(last - 1000, 0), -1))
    return next((one for one in candidates if one not in taken), None)


def _machine(address: str, length: int, host: LinkId) -> NamespaceFacts:
    network = str(ip_interface(f"{address}/{length}").network)
    return NamespaceFacts(
        netns=Netns(inode=_MADE_UP, names=(ELSEWHERE,)),
        links=(
            Link(ifindex=1, ifname="lo", flags=_UP | IFF_LOOPBACK, mtu=65536, address="00:00:00:00:00:00"),
            Link(ifindex=_BROADCAST_PORT, ifname="eth0", kind="veth", flags=_UP, mtu=1500, address=_LADDR),
        ),
        addresses=(
            InterfaceAddress(ifindex=1, address="127.0.0.1", prefix_length=8, scope=254),
            InterfaceAddress(ifindex=_BROADCAST_PORT, address=address, prefix_length=length, scope=0),
        ),
        routes=tuple(_routes(address, network)),
        rules=tuple(
            RoutingRule(family=4, priority=priority, action="lookup", table=table)
            for priority, table in ((0, 255), (32766, 254))
        ),
        settings=KernelSettings(ip_forward=False),
        ends={_BROADCAST_PORT: host},
    )


def _routes(address: str, network: str) -> Sequence[Route]:
    lo, eth0 = NextHop(gateway="", ifindex=1), NextHop(gateway="", ifindex=_BROADCAST_PORT)
    return (
        _route("127.0.0.0/8", 255, "local", lo, "127.0.0.1"),
        _route(f"{address}/32", 255, "local", eth0, address),
        _route(network, 254, "unicast", eth0, address),
    )


def _route(destination: str, table: int, type_: str, hop: NextHop, source: str) -> Route:
    scope = 254 if type_ == "local" else 253
    return Route(
        family=4, destination=destination, table=table, type=type_, scope=scope, protocol=2, source=source, hops=(hop,)
    )
