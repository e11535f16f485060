"""A running broker advertises another endpoint than its configuration has.

Why: A properties file, a start script, an operator or a dynamic setting determines the endpoint, not the container's
variables. Changing the variables then has no effect.

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
          answers: {node: 1, listener: PLAINTEXT}
          told: [{node: 1, at: "kafka.example:9092", gives: ok}]  # <- here

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
          answers: {node: 1, listener: PLAINTEXT}
          told: [{node: 1, at: "kafka:9092", gives: ok}]

Seen: a client that is sent to an endpoint that no variable contains

Sources: Metadata from the broker itself, and the environment of its container.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import Answered
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.rules.live_findings import answering, listed, written

ID = "live-advertised-drift"
SEVERITY = Severity.WARNING


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every broker and endpoint that it advertises without having it in its configuration."""
    told: set[tuple[str, str]] = set()
    for cell in view.cells:
        answered = cell.observed.bootstrap if cell.observed else None
        if not isinstance(answered, Answered):
            continue
        broker = answering(view, answered)
        if broker is None or broker.config.mode is Mode.REDPANDA or broker.config.is_unknown("advertised.listeners"):
            continue
        own = next((e.address for e in answered.brokers if e.node_id == answered.node_id), None)
        known = [entry.endpoint for entry in broker.config.advertised_listeners]
        ends = {(endpoint.host, endpoint.port) for endpoint in known}
        if own is None or not known or (own.host, own.port) in ends or any(not host for host, _ in ends):
            continue
        if (broker.name, str(own)) in told:
            continue
        told.add((broker.name, str(own)))
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f'{broker.name} advertises "{own}", but its configuration has '
            f"{listed(str(endpoint) for endpoint in known)}",
            location=ContainerLocation(container=broker.name, part=answered.listener or ""),
            why="something other than the container's variables sets the advertised listeners",
            hint=f"look for a mounted properties file, a start script or a dynamic setting of {broker.name}",
            related=written(view, broker, "advertised.listeners"),
            service=broker.name,
            listener=answered.listener,
        )
