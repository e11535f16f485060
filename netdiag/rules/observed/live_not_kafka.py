"""Something other than a Kafka broker answers at an address for Kafka clients.

Why: An HTTP server, ZooKeeper or a KRaft controller accepts the connection too; clients report impossible sizes
(1213486160 is "HTTP"), time out, or complain about versions.

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
        - {vantage: inside kafka, bootstrap: "kafka:9092", fails: not-kafka,
           because: "172.18.0.2:9092: HTTP answers"}  # <- here

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
        - {vantage: inside kafka, bootstrap: "kafka:9092",
           answers: {node: 1, listener: PLAINTEXT}, told: [{node: 1, at: "kafka:9092", gives: ok}]}

Seen: InvalidReceiveException: Invalid receive (size = 1213486160 larger than 104857600)

Sources: the first bytes of the response to an ApiVersions request.
"""

from collections.abc import Iterator

from netdiag.deployment.model.causes import repair, why
from netdiag.deployment.model.verdict import Address, Failed, Reason
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.rules.live_findings import Whose, blocked, listed, owner, place, traps

ID = "live-not-kafka"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every address that is meant for Kafka clients, at the first hop or the second."""
    seen: dict[Address, tuple[Whose | None, Failed, list[str]]] = {}
    for block in blocked(view, Reason.NOT_KAFKA):
        seen[block.address] = (block.whose, block.failed, list(block.places))
    for trap in traps(view):
        contact, endpoint = trap.endpoint.contact, trap.endpoint.endpoint
        if isinstance(contact, Failed) and contact.reason is Reason.NOT_KAFKA:
            whose = owner(view, endpoint.node_id, endpoint.address)
            seen.setdefault(endpoint.address, (whose, contact, []))[2].append(trap.vantage.label)
    for address, (whose, failed, places) in seen.items():
        if whose is not None:
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f'from {listed(places)}: no Kafka broker answers at "{address}", which {whose.broker.name} '
                f"advertises for listener {whose.listener}",
                location=place(whose),
                why=why(view.causes.get((places[0], address)), failed),
                hint=repair(view.causes.get((places[0], address)), failed, address),
                service=whose.broker.name,
                listener=whose.listener,
            )
