"""Nothing listens on the port of a configured listener.

Why: Clients get the listener's advertised address, but no connection. The broker is still starting, failed to bind, or
another process runs in its container.

Bad:
    places:
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
    brokers:
      - {key: kafka/PLAINTEXT, container: kafka, bind: ["", 9092], bound: []}  # <- here

Good:
    places:
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
    brokers:
      - {key: kafka/PLAINTEXT, container: kafka, bind: ["", 9092], bound: ["::"]}
      - {key: kafka/UNSEEN, container: kafka, bind: ["", 9093]}

Seen: "Connection refused"; no line "Awaiting socket connections" for the port in the broker's log

Sources: sock_diag(7); SocketServer.openServerSocket.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.rules.topology_findings import finding
from netdiag.topology.graph import Topology

ID = "topology-listener-not-bound"
SEVERITY = Severity.WARNING


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every listener without a socket, if the sockets of its namespace are visible."""
    for listener in topology.listeners:
        place = next((p for p in topology.places if listener.container in p.containers), None)
        if listener.bound is None or listener.bound or listener.bind[1] == 0 or place is None:
            continue
        yield finding(
            ID,
            SEVERITY,
            TopologyLocation(place=place.name, part=listener.key),
            f"listener {listener.listener} of {listener.broker} is configured on port {listener.bind[1]}, but nothing "
            f"listens there",
            why="the broker is still starting, failed to bind, or is not the process in the container",
            hint=f"read the log of {listener.broker}, and check again once it has started",
            service=listener.broker,
            listener=listener.listener,
        )
