"""Containers have a default route to a gateway that no device has.

Why: All packets that leave a container network go to its gateway, which is the address of the bridge. Without it
(removed, or lost when a network manager took over the device), containers reach only one another.

Bad:
    places:
      host:
        links:
          br-kafka: {kind: bridge}
          veth1: {master: br-kafka, peer: kafka eth0}
      kafka:  # <- here
        links: {eth0: {addresses: [172.20.0.2/16]}}
        gateway: 172.20.0.1
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16}

Good:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
          br-inside: {kind: bridge}
          veth2: {master: br-inside, peer: alone eth0}
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
        gateway: 172.20.0.1
      alone:
        links: {eth0: {addresses: [172.21.0.2/16]}}
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16}
      inside: {bridge: br-inside, subnet: 172.21.0.0/16, internal: true}

Seen: "No route to host" after three seconds for everything outside; published ports do not answer

Sources: RFC 1122 section 3.3.1.2; Docker documentation, bridge network driver.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.rules.topology_findings import (
    MAIN_TABLE,
    Address,
    addresses_at,
    at_device,
    at_place,
    device_of,
    finding,
    parsed,
    quoted,
    running_places,
)
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import LinkId, NamespaceFacts
from netdiag.topology.segments import Segment, segment_by_link

ID = "topology-gateway-missing"
SEVERITY = Severity.ERROR


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every container whose gateway no device has, on a segment that is fully visible."""
    found = segment_by_link(topology.segments)
    for place, facts, container in running_places(topology):
        for at, gateway in _gateways(facts):
            segment = found.get(at)
            # Without a bridge a veth pair may be routed, with a gateway that exists only in the neighbor table.
            if segment is None or not segment.bridges or not segment.closed or _is_held(topology, segment, gateway):
                continue
            bridges = [
                Related(location=at_device(topology, each), message="does not have this address")
                for each in segment.bridges
            ]
            yield finding(
                ID,
                SEVERITY,
                at_place(topology, place.netns, str(gateway)),
                f'{container.name} has the gateway "{gateway}", but no device on {device_of(topology, at)} has that '
                f"address",
                why="the container reaches only others on its network, and its published ports do not answer",
                hint=_hint(topology, segment, gateway),
                related=bridges,
                service=container.name,
            )


def _gateways(facts: NamespaceFacts) -> Iterator[tuple[LinkId, Address]]:
    for route in facts.routes:
        if route.destination not in ("0.0.0.0/0", "::/0") or route.table != MAIN_TABLE or route.type != "unicast":
            continue
        for hop in route.hops:
            gateway = parsed(hop.gateway)
            if gateway is not None and not gateway.is_link_local and hop.ifindex is not None:
                yield LinkId(netns=facts.netns.inode, ifindex=hop.ifindex), gateway


def _is_held(topology: Topology, segment: Segment, gateway: Address) -> bool:
    return any(parsed(a.address) == gateway for end in segment.ends for a in addresses_at(topology, end.at))


def _hint(topology: Topology, segment: Segment, gateway: Address) -> str:
    link = topology.inventory.link(segment.bridges[0]) if len(segment.bridges) == 1 else None
    again = "recreate the network"
    return f"run `ip address add {gateway}/... dev {quoted(link.ifname)}`, or {again}" if link is not None else again
