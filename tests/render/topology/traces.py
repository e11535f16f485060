"""Ways to the listeners of a topology, as a trace would give them in Docker's usual case, for tests of pictures.

On a network of the broker its name works; the host works by what is published; a container that dials what is
published for the host is told "localhost" and stops there; other networks do not even know the name.
"""

from dataclasses import replace

from netdiag.linux.ruleset import Origin, RuleAddress
from netdiag.topology.graph import Hop, HopKind, KafkaListener, Path, PathEnd, Place, PlaceKind, Reach, Topology

LAN_ADDRESS = "192.168.8.133"
_RULE = RuleAddress(
    family="ip",
    table="filter",
    chain="DOCKER",
    number=4,
    handle=7,
    text="-A DOCKER ! -i br-0a1b -o br-0a1b -j DROP",
    origin=Origin.IPTABLES_NFT,
)


def with_traces(topology: Topology) -> Topology:
    """The topology with a way from every place to every listener that clients are told of."""
    networks: dict[str, set[str]] = {}
    for view in topology.networks:
        for member in view.members:
            networks.setdefault(member.container, set()).add(view.network.name)
    sources = [place for place in topology.places if place.kind in (PlaceKind.HOST, PlaceKind.CONTAINER)]
    reach = [
        one
        for listener in topology.listeners
        if listener.advertised is not None
        for source in sources
        for one in _ways(topology, listener, source, networks)
    ]
    return replace(topology, reach=tuple(reach))


def way(
    topology: Topology, listener: KafkaListener, source: Place, address: tuple[str, int], end: PathEnd, because: str
) -> Reach:
    """One way."""
    owner = next((place for place in topology.places if listener.container in place.containers), None)
    host, port = address
    hops = (
        Hop(kind=HopKind.RESOLVER, netns=source.netns, what=f"{host} is 172.18.0.9"),
        Hop(kind=HopKind.ROUTE, netns=source.netns, what="172.18.0.0/16 is on eth0"),
        Hop(
            kind=HopKind.FILTER,
            netns=topology.inventory.own,
            what=because,
            rules=(_RULE,) if end is PathEnd.DROPPED else (),
        ),
    )
    path = Path(
        source=source.netns,
        destination=host,
        port=port,
        address="172.18.0.9",
        hops=hops,
        end=end,
        because=because,
        target=owner.netns if owner is not None and end is PathEnd.CONNECTED else None,
    )
    return Reach(
        listener=listener.key,
        source=source.name,
        destination=host,
        port=port,
        advertised=address == listener.advertised,
        path=path,
    )


def _ways(topology: Topology, listener: KafkaListener, source: Place, networks: dict[str, set[str]]) -> list[Reach]:
    told = listener.advertised
    assert told is not None
    own = listener.container in source.containers
    if not listener.published:
        shared = own or networks.get(listener.container, set()) & {
            name for container in source.containers for name in networks.get(container, ())
        }
        if shared:
            return [way(topology, listener, source, told, PathEnd.CONNECTED, "java (5010) accepts")]
        return [way(topology, listener, source, told, PathEnd.UNRESOLVED, f"nobody here knows the name {told[0]}")]
    if source.kind is PlaceKind.HOST:
        return [way(topology, listener, source, told, PathEnd.CONNECTED, "docker-proxy passes it on to java (5010)")]
    if own:
        return [way(topology, listener, source, told, PathEnd.CONNECTED, "java (5010) accepts")]
    return [
        way(topology, listener, source, told, PathEnd.REFUSED, "localhost is the container itself: nobody listens"),
        way(topology, listener, source, (LAN_ADDRESS, told[1]), PathEnd.CONNECTED, "DNAT leads to java (5010)"),
    ]
