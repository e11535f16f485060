"""A published listener is bound only to loopback.

Why: Connections to a published port arrive at the container's network interface. A socket on 127.0.0.1 accepts only
connections from inside the container, whatever is published.

Bad:
    places:
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
    brokers:
      - {key: kafka/EXTERNAL, container: kafka, bind: [localhost, 9092], bound: [127.0.0.1],  # <- here
         published: ["0.0.0.0:9092/tcp"]}

Good:
    places:
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
    brokers:
      - {key: kafka/EXTERNAL, container: kafka, bind: ["", 9092], bound: [0.0.0.0], published: ["0.0.0.0:9092/tcp"]}
      - {key: kafka/LOCAL, container: kafka, bind: [localhost, 9093], bound: [127.0.0.1]}

Seen: "Connection refused", or a connection that closes at once

Sources: ip(7); Apache Kafka, listeners.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.rules.topology_findings import finding, parsed, several
from netdiag.topology.graph import Topology

ID = "topology-listener-loopback-only"
SEVERITY = Severity.ERROR


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every listener that ports lead to, and whose sockets accept no connection from outside."""
    for listener in topology.listeners:
        place = next((p for p in topology.places if listener.container in p.containers), None)
        addresses = [parsed(text) for text in listener.bound or ()]
        local = [a for a in addresses if a is not None and (a.is_loopback or str(a).startswith("::ffff:127."))]
        if place is None or not local or len(local) < len(addresses) or not listener.published:
            continue
        yield finding(
            ID,
            SEVERITY,
            TopologyLocation(place=place.name, part=listener.key),
            f"listener {listener.listener} of {listener.broker} is bound only to {several(listener.bound or ())}, but "
            f"published "
            f"as {several(listener.published)}",
            why="connections to a published port arrive at the container's network interface, not at its loopback",
            hint=f"bind it to all addresses: {listener.listener}://:{listener.bind[1]} in listeners",
            service=listener.broker,
            listener=listener.listener,
        )
