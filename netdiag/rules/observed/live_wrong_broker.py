"""Another broker, or another cluster, answers at an advertised endpoint.

Why: Nothing fails at first. The client talks to the broker that owns the port: its requests get NOT_LEADER_OR_FOLLOWER
forever, or it reads and writes topics in the wrong cluster.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      cells:
        - vantage: inside kafka
          bootstrap: kafka:9092
          answers: {node: 1, cluster: A, listener: PLAINTEXT}
          told: [{node: 1, at: "kafka:9092", gives: {node: 1, cluster: B}}]  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      cells:
        - vantage: inside kafka
          bootstrap: kafka:9092
          answers: {node: 1, cluster: A, listener: PLAINTEXT}
          told: [{node: 1, at: "kafka:9092", gives: {node: 1, cluster: A}}]

Seen: NOT_LEADER_OR_FOLLOWER again and again; topics of another cluster

Sources: the node ID and cluster ID that the endpoint itself returns (DescribeConfigs, Metadata, DescribeCluster).
"""

from collections.abc import Iterator

from netdiag.deployment.model.vantage import VantageKind
from netdiag.deployment.model.verdict import Answered, Word
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.rules.live_findings import Trap, listed, owner, place, traps, written

ID = "live-wrong-broker"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every endpoint that belongs to another broker, if no other address serves the client."""
    groups: dict[tuple[int, str, str, bool], list[Trap]] = {}
    for trap in traps(view):
        contact = trap.endpoint.contact
        if trap.endpoint.outcome == Word.WRONG_BROKER and isinstance(contact, Answered):
            who = _who(trap, contact)
            outside = trap.vantage.kind is VantageKind.LAN
            groups.setdefault((trap.endpoint.endpoint.node_id, str(trap.endpoint.endpoint.address), who, outside), [])
            groups[trap.endpoint.endpoint.node_id, str(trap.endpoint.endpoint.address), who, outside].append(trap)
    for (_, _, who, outside), found in groups.items():
        yield _finding(view, found, who, outside=outside)


def _who(trap: Trap, contact: Answered) -> str:
    if contact.foreign:
        return f"{contact.member}, which belongs to another cluster,"
    if None not in (contact.cluster_id, trap.answered.cluster_id) and contact.cluster_id != trap.answered.cluster_id:
        return "a broker of another cluster"
    return f"node {contact.node_id}"


def _finding(view: LiveView, found: list[Trap], who: str, *, outside: bool) -> Finding:
    first = found[0]
    endpoint = first.endpoint.endpoint
    whose = owner(view, endpoint.node_id, endpoint.address)
    places = listed(trap.vantage.label for trap in found)
    return Finding(
        rule=ID,
        severity=Severity.NOTE if outside else SEVERITY,
        message=f'from {places}: {first.bootstrap} sends clients to "{endpoint.address}" for node {endpoint.node_id}, '
        f"but {who} answers there",
        location=place(whose) if whose else ContainerLocation(container=first.vantage.label, part=str(first.bootstrap)),
        why="the address leads to the owner of the port, and a client does not check which broker answers",
        hint="give every broker its own advertised port, and publish that port",
        related=written(view, whose.broker, "advertised.listeners") if whose else (),
        service=whose.broker.name if whose else None,
        listener=first.answered.listener or (whose.listener if whose else None),
    )
