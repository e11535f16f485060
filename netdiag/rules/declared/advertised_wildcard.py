"""The broker advertises 0.0.0.0.

Why: A broker can bind 0.0.0.0, which means all addresses, but a client on another machine cannot connect to it. Without
advertised.listeners, the broker advertises what listeners binds. Kafka and Redpanda 23.3 and later refuse to start;
older Redpanda versions send their clients to 0.0.0.0.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://0.0.0.0:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: requirement failed: advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP
    address.

Sources: KafkaConfig.validateValues, KAFKA-4260 (1.0); Redpanda, node_config, redpanda-data/redpanda#123.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.prediction.listener_access import listener_of, published_for
from netdiag.deployment.repairs import advertise, service_name
from netdiag.findings import Finding, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images import redpanda
from netdiag.kafka.images.families import parse_image
from netdiag.kafka.listeners import ListenerEntry, endpoint_text, is_wildcard

ID = "advertised-wildcard"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised broker endpoint on 0.0.0.0, written or inherited from listeners."""
    for broker in deployment.serving:
        if not broker.config.is_broker:
            continue
        for entry in broker.config.advertised_listeners:
            if entry.endpoint.host == "0.0.0.0" or (_is_redpanda(broker) and is_wildcard(entry.endpoint.host)):
                yield _finding(broker, entry)


def _finding(broker: Broker, entry: ListenerEntry) -> Finding:
    written = bool(broker.config.value("advertised.listeners"))
    inherited = "" if written else ", inherited from listeners because advertised.listeners is not set"
    if _is_redpanda(broker) and not written:
        inherited = ", the address it binds, because no advertised address is set"
    bound = listener_of(broker, entry.endpoint.listener)
    ports = [p.published for p in published_for(broker, bound) if p.published is not None] if bound else []
    named = any(not is_wildcard(e.endpoint.host) for e in broker.config.advertised_listeners)
    listener = entry.endpoint.listener
    # Beside a listener with a name, which containers use, the published one is for the docker host.
    told = (
        f"{endpoint_text(listener, 'localhost', ports[0])} for the docker host"
        if ports and named
        else f"{endpoint_text(listener, broker.member.service or broker.name, entry.endpoint.port)} for containers"
    )
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'listener {entry.endpoint.listener} of {broker.name} advertises "{entry.endpoint.host}"{inherited}',
        location=broker.place("advertised.listeners" if written else "listeners", entry.host_start, entry.host_end),
        why="a broker can bind 0.0.0.0, but a client elsewhere cannot connect to it",
        hint=f"advertise a name that clients resolve, for example {told}",
        service=broker.name,
        listener=entry.endpoint.listener,
        edits=advertise(broker, entry, service_name(broker) if told.endswith("containers") else "localhost"),
        broker_prints=_prints(broker),
    )


def _is_redpanda(broker: Broker) -> bool:
    return broker.config.mode is Mode.REDPANDA


def _prints(broker: Broker) -> str | None:
    if not _is_redpanda(broker):
        return "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0"
    return redpanda.REFUSES_WILDCARD if redpanda.refuses_wildcard(parse_image(broker.member.image)) else None
