"""A client beside the brokers cannot connect with its own bootstrap addresses.

Why: netdiag does what the client does, from the client's container: with its DNS, its networks and its bootstrap
servers.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: alpine:3.20
        environment:
          KAFKA_BOOTSTRAP_SERVERS: kafka:9092
    x-observed:
      cells:
        - {vantage: container app, bootstrap: "kafka:9092", fails: timeout}  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: alpine:3.20
        environment:
          KAFKA_BOOTSTRAP_SERVERS: kafka:9092
    x-observed:
      cells:
        - {vantage: container app, bootstrap: "kafka:9092",
           answers: {node: 1, listener: PLAINTEXT}, told: [{node: 1, at: "kafka:9092", gives: ok}]}

Seen: NoBrokersAvailable; Timed out waiting for a node assignment; 1/1 brokers are down

Sources: both hops of a client, tried from the client's network namespace.
"""

from collections.abc import Iterator

from netdiag.deployment.model.causes import repair, why
from netdiag.deployment.model.deployment import KafkaClient
from netdiag.deployment.model.verdict import Answered, Cell, Failed, Word
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.rules.live_findings import cells_of_client, listed, written_variable

ID = "live-dependent-cannot-connect"
SEVERITY = Severity.ERROR

# live-security-mismatch reports whether a secured listener is what the client expects, live-ambiguous-name a name that
# serves some connections.
_NOT_TOLD = (Word.OK, Word.UNKNOWN, Word.TLS, Word.SASL, Word.AMBIGUOUS)


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every client none of whose addresses works, unless all brokers are down."""
    if all(broker.name in view.stopped for broker in view.deployment.brokers):
        return
    for client in view.deployment.clients:
        cells = cells_of_client(view, client)
        words = [cell.observed.word for cell in cells if cell.observed]
        if words and not any(word in _NOT_TOLD for word in words):
            yield _finding(view, client, cells)


def _finding(view: LiveView, client: KafkaClient, cells: tuple[Cell, ...]) -> Finding:
    because, hint = _reason(view, client, cells[0])
    gives = listed(f'"{cell.bootstrap}" ({cell.observed})' for cell in cells)
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{client.member.name} cannot use Kafka: {gives}",
        location=client.declared.at(),
        why=because,
        hint=hint,
        related=written_variable(view, client.member, client.declared.variable),
        service=client.member.name,
    )


def _reason(view: LiveView, client: KafkaClient, cell: Cell) -> tuple[str, str]:
    """Why the client's address does not work, and what helps."""
    usual = f"set {client.setting} to an address that works from container {client.member.name}"
    verdict = cell.observed
    if verdict is None:
        return "", usual
    if isinstance(verdict.bootstrap, Failed):
        failed, address, sent = verdict.bootstrap, cell.bootstrap, ""
    elif isinstance(verdict.bootstrap, Answered) and verdict.bootstrap.foreign:
        return verdict.bootstrap.because, usual
    else:
        bad = next((one for one in verdict.endpoints if one.outcome != Word.OK), None)
        if bad is None:
            return "the broker answers, but returns no broker to connect to", usual
        address = bad.endpoint.address
        sent = f"the broker sends it to {address} (node {bad.endpoint.node_id}), {bad.outcome}"
        if not isinstance(bad.contact, Failed):
            return sent, usual
        failed = bad.contact
    cause = view.causes.get((cell.vantage, address))
    because = why(cause, failed)
    return f"{sent}: {because}" if sent else because, usual if cause is None else repair(cause, failed, address)
