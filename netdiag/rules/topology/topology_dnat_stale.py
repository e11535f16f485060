"""A NAT rule sends connections to an address that no device has.

Why: Such a rule remains when its container is gone: the engine was killed, or saved rules were restored. Clients that
connect to the port are sent to an address where nothing answers, even if another container should have the port.

Bad:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
        nat:
          - "-A DOCKER ! -i br-kafka -p tcp -m tcp --dport 9092 -j DNAT --to-destination 172.20.0.2:9092"
          - "-A DOCKER ! -i br-kafka -p tcp -m tcp --dport 9093 -j DNAT --to-destination 172.20.0.9:9092"  # <- here
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
        listeners: [{port: 9092}]

Good:
    places:
      host:
        links:
          eth0: {addresses: [192.0.2.1/24]}
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
        nat:
          - "-A DOCKER ! -i br-kafka -p tcp -m tcp --dport 9092 -j DNAT --to-destination 172.20.0.2:9092"
          - "-A PREROUTING -p tcp -m tcp --dport 8080 -j DNAT --to-destination 192.0.2.80:80"
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
        listeners: [{port: 9092}]

Seen: "No route to host" after three seconds on a published port

Sources: iptables-extensions(8), DNAT; net/ipv4/arp.c.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.topology_findings import (
    Translation,
    at_place,
    device_name,
    device_towards,
    finding,
    parsed,
    place_name,
    translations,
)
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.segments import segment_by_link

ID = "topology-dnat-stale"
SEVERITY = Severity.ERROR


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every rule whose target is on a segment of which all is seen, and where nobody has it."""
    inventory = topology.inventory
    rules = [(inode, facts, rule) for inode, facts in inventory.namespaces.items() for rule in translations(facts)]
    if not rules:
        return
    by_device = segment_by_link(topology.segments)
    # An address that is somewhere else is not gone: the way to it is what is wrong then.
    had = {parsed(each.address) for facts in inventory.namespaces.values() for each in facts.addresses}
    for inode, facts, rule in rules:
        at = device_towards(facts, rule.address)
        segment = None if at is None else by_device.get(at)
        if at is not None and segment is not None and segment.closed and rule.address not in had:
            yield _finding(topology, inode, at, rule)


def _finding(topology: Topology, inode: int, at: LinkId, rule: Translation) -> Finding:
    first, last = rule.published[0], rule.published[-1]
    port = f"port {first}" if first == last else f"ports {first} to {last}"
    where = device_name(topology, at)
    return finding(
        ID,
        SEVERITY,
        at_place(topology, inode, rule.text),
        f'{place_name(topology, inode)} sends {port} to "{rule.address}", but no device on {where} has that address',
        why="the rule remains from a container that is gone, and no other container can serve the port",
        hint="restart the engine, which writes its rules again, or delete the rule",
    )
