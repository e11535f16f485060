"""Containers have a default route to an address that nobody has.

Why: whatever leaves a container network goes to its gateway, which is the address of the bridge. Without it (removed,
or lost when a network manager took the device over) the containers reach each other, and nobody else.

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

Seen: "No route to host" after three seconds for everything outside; published ports answer nobody

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
from netdiag.topology.segments import Segment, holders

ID = "topology-gateway-missing"
SEVERITY = Severity.ERROR


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every container whose gateway is on a segment of which all is seen, and where nobody has it."""
    found = holders(topology.segments)
    for place, facts, container in running_places(topology):
        for at, gateway in _gateways(facts):
            segment = found.get(at)
            # Without a bridge a cable may be routed, with a gateway that exists in the neighbour table only.
            if segment is None or not segment.bridges or not segment.closed or _is_held(topology, segment, gateway):
                continue
            bridges = [
                Related(location=at_device(topology, each), message="has no such address") for each in segment.bridges
            ]
            yield finding(
                ID,
                SEVERITY,
                at_place(topology, place.netns, str(gateway)),
                f"{container.name} has the gateway {gateway}, which nobody on {device_of(topology, at)} has",
                why="it reaches others on its network, and nobody outside of it; its published ports answer nobody",
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
    again = "make the network anew"
    return f"ip address add {gateway}/... dev {quoted(link.ifname)}, or {again}" if link is not None else again
