"""Predict who reaches a Kafka listener by which address, from the docker host, from containers, and from outside.

Another machine on the docker host's network is made up where none is seen: it has an address of the same network, no
route but the one to it, and no known name service.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Interface, ip_interface

from netdiag.linux.netns import Netns
from netdiag.linux.rtnetlink import (
    IFF_LOOPBACK,
    IFF_LOWER_UP,
    IFF_UP,
    InterfaceAddress,
    KernelSettings,
    Link,
    NextHop,
    Route,
    RoutingRule,
)
from netdiag.topology.graph import KafkaListener, Place, PlaceKind, Published, Reach, Topology
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts
from netdiag.topology.path.name_lookup import Resolver, topology_resolver
from netdiag.topology.path.prediction import PathPredictor

ELSEWHERE = "elsewhere"
MOST_PATHS = 2000
_MOST_PLACES = 20
_MADE_UP_NETNS = 0
_LADDR = "02:00:00:00:00:fe"
_UP = IFF_UP | IFF_LOWER_UP
_ETH0_INDEX = 2


def with_reach(topology: Topology, resolver: Resolver | None = None) -> Topology:
    """The topology with `reach` filled; with many containers, `reach_note` says which stand for others."""
    sources, note = _sources(topology)
    inventory, elsewhere = _with_elsewhere(topology)
    if elsewhere is not None and all(netns != elsewhere for _, netns in sources):
        sources.insert(1, (ELSEWHERE, elsewhere))
    predictor = PathPredictor(replace(topology, inventory=inventory), resolver or topology_resolver(topology))
    dials = list(_dials(topology))
    many = bool(note)
    found: list[Reach] = []
    for name, netns in sources:
        if len(found) + len(dials) > MOST_PATHS:
            note = f"shown only from the first places: the limit is {MOST_PATHS} paths"
            break
        found += [_reach(predictor, dial, name, netns) for dial in dials]
    if many:
        found += [_reach(predictor, dial, *own) for dial in dials if (own := _own_place(topology, dial[0], sources))]
    return replace(topology, reach=tuple(found), reach_note=note)


# A listener with an address to dial: host, port, whether it is the advertised one.
_Dial = tuple[KafkaListener, str, int, bool]


def _dials(topology: Topology) -> Iterator[_Dial]:
    published = {one.key: one for one in topology.published}
    for listener in topology.listeners:
        if not listener.controller and listener.advertised is not None:
            for address, port, advertised in _addresses(topology, listener, published):
                yield listener, address, port, advertised


def _reach(predictor: PathPredictor, dial: _Dial, source: str, netns: int) -> Reach:
    listener, address, port, advertised = dial
    return Reach(
        listener=listener.key,
        source=source,
        destination=address,
        port=port,
        advertised=advertised,
        path=predictor.predict(netns, address, port),
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
    by_networks: dict[frozenset[str], Place] = {}
    for place, on in containers:
        by_networks.setdefault(on, place)
    note = f"{len(by_networks)} containers represent {len(containers)}: one for each set of networks, and each broker"
    return [*host, *((place.name, place.netns) for place in by_networks.values())], note


def _own_place(
    topology: Topology, listener: KafkaListener, sources: Sequence[tuple[str, int]]
) -> tuple[str, int] | None:
    """The broker's own place, if it is not among the sources."""
    place = next((one for one in topology.places if listener.container in one.containers), None)
    return (place.name, place.netns) if place is not None and (place.name, place.netns) not in sources else None


def _host(topology: Topology) -> int | None:
    place = topology.named(topology.host) if topology.host else None
    return place.netns if place else None


def _addresses(
    topology: Topology, listener: KafkaListener, published: Mapping[str, Published]
) -> Iterator[tuple[str, int, bool]]:
    """The advertised address, then those where the listener's port is published."""
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
    """The address of the docker host for other machines."""
    found = _outside_link(topology)
    return str(found[1].ip) if found else "127.0.0.1"


def _outside_link(topology: Topology) -> tuple[Link, IPv4Interface] | None:
    """The docker host's link to other machines: that of its default route, else the first that is no bridge."""
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
    found = _outside_link(topology)
    if found is None or host is None:
        return inventory, None
    link, interface = found
    facts = inventory.namespaces[host]
    end = facts.ends.get(link.ifindex)
    if end is not None and end.netns in inventory.namespaces:
        return inventory, end.netns
    address = _free_address(interface, facts)
    if address is None:
        return inventory, None
    here, there = LinkId(netns=host, ifindex=link.ifindex), LinkId(netns=_MADE_UP_NETNS, ifindex=_ETH0_INDEX)
    links = tuple(replace(one, kind="veth") if one.ifindex == link.ifindex else one for one in facts.links)
    neighbours = tuple(n for n in facts.neighbours if (n.ifindex, n.address) != (link.ifindex, address))
    changed = replace(facts, links=links, neighbours=neighbours, ends={**facts.ends, link.ifindex: there})
    made_up = _machine(address, interface.network.prefixlen, here)
    return replace(
        inventory, namespaces={**inventory.namespaces, host: changed, _MADE_UP_NETNS: made_up}
    ), _MADE_UP_NETNS


def _free_address(interface: IPv4Interface, facts: NamespaceFacts) -> str | None:
    """An address of the network that nobody is known to have."""
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
        netns=Netns(inode=_MADE_UP_NETNS, names=(ELSEWHERE,)),
        links=(
            Link(ifindex=1, ifname="lo", flags=_UP | IFF_LOOPBACK, mtu=65536, address="00:00:00:00:00:00"),
            Link(ifindex=_ETH0_INDEX, ifname="eth0", kind="veth", flags=_UP, mtu=1500, address=_LADDR),
        ),
        addresses=(
            InterfaceAddress(ifindex=1, address="127.0.0.1", prefix_length=8, scope=254),
            InterfaceAddress(ifindex=_ETH0_INDEX, address=address, prefix_length=length, scope=0),
        ),
        routes=tuple(_routes(address, network)),
        rules=tuple(
            RoutingRule(family=4, priority=priority, action="lookup", table=table)
            for priority, table in ((0, 255), (32766, 254))
        ),
        settings=KernelSettings(ip_forward=False),
        ends={_ETH0_INDEX: host},
    )


def _routes(address: str, network: str) -> Sequence[Route]:
    lo, eth0 = NextHop(gateway="", ifindex=1), NextHop(gateway="", ifindex=_ETH0_INDEX)
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
