"""Kafka's traffic per device: the connections of a capture, laid over the topology that they ran through.

A connection belongs to a device for one of two reasons. It was captured there, as the capture says by name; or it is
from or to an address that only this device of the machine has, and so it passed the device, the other end of its
cable, and the bridge that hangs from. Loopback addresses, and those that several devices have, tell nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from netdiag.topology.graph import CableKind, LinkTraffic, Topology
from netdiag.topology.inventory import LinkId
from netdiag.traffic.rows import ConnectionRow

_MADE = ("complete", "unseen", "half")


def with_traffic(topology: Topology, connections: Iterable[ConnectionRow]) -> Topology:
    """The topology with `traffic` filled: connections that speak Kafka, or were to a listener of a known broker."""
    devices = _Devices(topology)
    found: dict[LinkId, LinkTraffic] = {}
    for row in connections:
        if row.protocol != "kafka" and row.listener is None:
            continue
        captured = devices.captured(row)
        for link in captured | devices.passed(row):
            found[link] = _added(found.get(link, LinkTraffic(link=link)), row, seen=link in captured)
    return replace(topology, traffic={link: found[link] for link in sorted(found)})


def _added(sum_: LinkTraffic, row: ConnectionRow, *, seen: bool) -> LinkTraffic:
    return replace(
        sum_,
        captured=sum_.captured or seen,
        connections=sum_.connections + 1,
        failed=sum_.failed + (row.opening not in _MADE),
        requests=sum_.requests + row.requests,
        responses=sum_.responses + row.responses,
        request_bytes=sum_.request_bytes + row.client_bytes,
        response_bytes=sum_.response_bytes + row.broker_bytes,
        retransmissions=sum_.retransmissions + row.retransmissions,
    )


class _Devices:
    """Where on the topology the names and addresses of a capture are."""

    def __init__(self, topology: Topology) -> None:
        self._labels = dict(_labels(topology))
        self._addresses = _addresses(topology)
        self._beyond = _beyond(topology)

    def captured(self, row: ConnectionRow) -> frozenset[LinkId]:
        """The devices that the capture says it saw the connection on."""
        return frozenset(self._labels[name] for name in row.interfaces or () if name in self._labels)

    def passed(self, row: ConnectionRow) -> frozenset[LinkId]:
        """The devices that it must have passed, by its addresses."""
        ends = {row.client, row.broker}
        for place in row.seen_as or ():
            client, _, rest = place.partition(">")
            ends |= {client, rest.partition(" ")[0]}
        own = {link for end in ends if (link := self._addresses.get(_host(end))) is not None}
        return frozenset(own.union(*(self._beyond.get(link, ()) for link in own)))


def _labels(topology: Topology) -> Iterator[tuple[str, LinkId]]:
    """What `netdiag capture` calls a device, place:device; on the docker host the bare name that others write, too."""
    for place in topology.places:
        facts = topology.inventory.namespaces.get(place.netns)
        if facts is None:
            continue
        names = [topology.containers[each].name for each in place.containers if each in topology.containers]
        names += [place.name, *facts.netns.names, *(["host"] if place.netns == topology.inventory.own else [])]
        for link in facts.links:
            device = LinkId(netns=place.netns, ifindex=link.ifindex)
            yield from ((f"{name}:{link.ifname}", device) for name in names)
            if place.name == topology.host and not link.loopback:
                yield link.ifname, device


def _addresses(topology: Topology) -> Mapping[str, LinkId]:
    """The device of each address that only one has."""
    found: dict[str, set[LinkId]] = defaultdict(set)
    for netns, facts in topology.inventory.namespaces.items():
        lo = {link.ifindex for link in facts.links if link.loopback}
        for address in facts.addresses:
            if address.ifindex not in lo and address.scope == 0:
                found[address.address].add(LinkId(netns=netns, ifindex=address.ifindex))
    return {address: next(iter(links)) for address, links in found.items() if len(links) == 1}


def _beyond(topology: Topology) -> Mapping[LinkId, tuple[LinkId, ...]]:
    """For a device with a cable: its other end, and the bridge that this end is a port of."""
    bridges = {cable.a: cable.b for cable in topology.cables if cable.kind is CableKind.PORT}
    found: dict[LinkId, tuple[LinkId, ...]] = {}
    for cable in topology.cables:
        if cable.kind in (CableKind.VETH, CableKind.NETKIT):
            for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
                found[near] = (far, bridges[far]) if far in bridges else (far,)
    return found


def _host(end: str) -> str:
    return end.rpartition(":")[0].strip("[]")
