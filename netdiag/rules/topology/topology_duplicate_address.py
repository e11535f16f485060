"""Two devices on one segment have the same IP address.

Why: Both answer ARP requests for the address, and the sender uses the last answer, so the container that gets a
connection changes from request to request.

Bad:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka-1 eth0}
          veth2: {master: br-kafka, peer: kafka-2 eth0}
      kafka-1:
        links: {eth0: {addresses: [172.20.0.2/16]}}  # <- here
      kafka-2:
        links: {eth0: {addresses: [172.20.0.2/16]}}

Good:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka-1 eth0}
          veth2: {master: br-kafka, peer: kafka-2 eth0}
      kafka-1:
        links: {eth0: {addresses: [172.20.0.2/16]}}
      kafka-2:
        links: {eth0: {addresses: [172.20.0.3/16]}}

Seen: a bootstrap address leads to one broker now, and to another a minute later

Sources: RFC 826; RFC 5227 section 1.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.rules.topology_findings import addresses_at, at_device, device_of, finding, parsed, several
from netdiag.topology.graph import Topology
from netdiag.topology.segments import Station

ID = "topology-duplicate-address"
SEVERITY = Severity.ERROR


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every address that several namespaces of a segment have."""
    for segment in topology.segments:
        sharing: dict[tuple[str, int | None], list[Station]] = {}
        for end in segment.ends:
            for each in addresses_at(topology, end.at) if end.link.up else ():
                address = parsed(each.address)
                # Link-local addresses follow from hardware addresses; topology-duplicate-mac reports those.
                if address is not None and not address.is_link_local and not address.is_loopback:
                    sharing.setdefault((each.address, end.vlan), []).append(end)
        for (text, _), ends in sharing.items():
            if len({end.at.netns for end in ends}) > 1:
                yield _finding(topology, text, ends)


def _finding(topology: Topology, address: str, ends: list[Station]) -> Finding:
    named = several(device_of(topology, end.at) for end in ends)
    return finding(
        ID,
        SEVERITY,
        at_device(topology, ends[0].at, address),
        f'{len(ends)} devices on one segment have the address "{address}": {named}',
        why="each of them answers ARP requests for the address, so connections alternate between them",
        hint="give one of them another address, or remove the fixed address and let the engine choose",
        related=[Related(location=at_device(topology, end.at), message="has it too") for end in ends[1:]],
    )
