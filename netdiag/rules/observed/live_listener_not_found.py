"""A running broker is missing from the metadata that clients get.

Why: A client learns only of brokers that have joined the cluster and advertise the listener it connects to. For
partitions led by other brokers it gets LISTENER_NOT_FOUND or no leader.

Bad:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment: &one
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          <<: *one
          KAFKA_BROKER_ID: 2
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
    x-observed:
      cells:
        - vantage: inside kafka-1
          bootstrap: kafka-1:9092
          answers: {node: 1, listener: PLAINTEXT}
          told: [{node: 1, at: "kafka-1:9092", gives: ok}]  # <- here

Good:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment: &one
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          <<: *one
          KAFKA_BROKER_ID: 2
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
    x-observed:
      cells:
        - vantage: inside kafka-1
          bootstrap: kafka-1:9092
          answers: {node: 1, listener: PLAINTEXT}
          told: [{node: 1, at: "kafka-1:9092", gives: ok}, {node: 2, at: "kafka-2:9092", gives: ok}]

Seen: LISTENER_NOT_FOUND; LEADER_NOT_AVAILABLE; a list of brokers that is too short

Sources: Metadata from every listener that answers, and the brokers that are running.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, State
from netdiag.deployment.model.verdict import Answered
from netdiag.deployment.observation.live_view import LiveView
from netdiag.deployment.prediction.cluster import cluster_of
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.rules.live_findings import answering, listed

ID = "live-listener-not-found"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every broker and listener that returns too few brokers, the first time it does."""
    told: set[tuple[str, str | None]] = set()
    for cell in view.cells:
        answered = cell.observed.bootstrap if cell.observed else None
        if not isinstance(answered, Answered):
            continue
        broker = answering(view, answered)
        if broker is None or (broker.name, answered.listener) in told or broker.config.mode is Mode.REDPANDA:
            continue
        missing = _missing(view, broker, answered)
        if missing:
            told.add((broker.name, answered.listener))
            yield _finding(broker, answered, missing, cell.vantage)


def _missing(view: LiveView, broker: Broker, answered: Answered) -> list[Broker]:
    named = {endpoint.node_id for endpoint in answered.brokers}
    return [
        other
        for other in cluster_of(view.deployment, broker)
        if other.config.is_broker
        and other.config.node_id is not None
        and other.config.node_id not in named
        and other.member.state in (State.RUNNING, State.DECLARED)
        and other.name not in view.stopped
    ]


def _finding(broker: Broker, answered: Answered, missing: list[Broker], vantage: str) -> Finding:
    listener = answered.listener
    lacking = [
        other
        for other in missing
        if listener is not None
        and listener not in {entry.endpoint.listener for entry in other.config.advertised_listeners}
    ]
    names = listed(other.name for other in missing)
    why = f"not in the cluster, or not known to {broker.name} yet: {names}"
    if lacking:
        why = (
            f"{listed(other.name for other in lacking)} {'do' if len(lacking) > 1 else 'does'} not advertise {listener}"
        )
    what = "returns no brokers" if not answered.brokers else f"does not return {names}"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} {what} to clients{f' of listener {listener}' if listener else ''} (asked from "
        f"{vantage})",
        location=ContainerLocation(container=broker.name, part=listener or ""),
        why=why,
        hint=f"check the log of {missing[0].name} to see why it does not join, and give all brokers the same listeners",
        service=broker.name,
        listener=listener,
    )
