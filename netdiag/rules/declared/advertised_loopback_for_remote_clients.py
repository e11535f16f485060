"""Every listener advertises localhost.

Why: `localhost` means the machine or container that the client runs in. A client in a container reaches the bootstrap
address, gets localhost from the broker, and then connects to itself. The finding is an error if a client in the same
files does this, a warning if such a client is in an inactive profile, and a note otherwise.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092  # <- here
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9092

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:29092

Seen: Connection to node 1 (localhost/127.0.0.1:9092) could not be established. Node may not be available.

Sources: KIP-103: a client gets the advertised endpoint of the listener that it connects to.
"""

from collections.abc import Iterator
from dataclasses import replace

from netdiag.deployment.clients import accepting_listener, clients_entering
from netdiag.deployment.model.deployment import Broker, Deployment, KafkaClient
from netdiag.deployment.model.vantage import container_vantage
from netdiag.deployment.prediction.listener_access import (
    faces_containers,
    listener_of,
    published_for,
    sends_all_to_loopback,
)
from netdiag.deployment.repairs import free_port, host_listener_name, service_name, split_listener
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, listener_in_words

ID = "advertised-loopback-for-remote-clients"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker that sends all clients to loopback, whichever listener they use."""
    for broker in deployment.serving:
        # live-testcontainers-listener says what containers get of a broker for the tests on the docker host.
        if sends_all_to_loopback(deployment, broker) and broker.member.started_by is None:
            advertised = broker.config.advertised_listeners
            yield _finding(deployment, broker, next(e for e in advertised if faces_containers(deployment, broker, e)))


def _finding(deployment: Deployment, broker: Broker, entry: ListenerEntry) -> Finding:
    name = entry.endpoint.listener
    entering = _sent_astray(deployment, broker, entry)
    return Finding(
        rule=ID,
        severity=_severity(entering),
        message=f"{listener_in_words(entry)} of {broker.name} sends every container to "
        f'"{entry.endpoint.host}:{entry.endpoint.port}", which is the container itself',
        location=broker.place("advertised.listeners", entry.host_start, entry.host_end),
        related=tuple(
            Related(location=d.declared.at(), message=f"{d.member.name} connects here and is sent to itself")
            for d in entering
        ),
        why="localhost means the machine or container that the client runs in"
        + (
            ": the docker host reaches the published port, a container only itself"
            if _is_published(broker, entry)
            else ""
        ),
        hint=_hint(deployment, broker, entry),
        service=broker.name,
        listener=name,
        edits=split_listener(deployment, broker, entry),
    )


def _hint(deployment: Deployment, broker: Broker, entry: ListenerEntry) -> str:
    bound = listener_of(broker, entry.endpoint.listener) or entry
    inside = replace(entry.endpoint, host=service_name(broker), port=bound.endpoint.port)
    numbers = [port.published for port in published_for(broker, bound) if port.published is not None]
    if not numbers:
        return f"advertise {inside}"
    port = free_port(deployment, broker)
    return (
        f"advertise {inside} for containers, and {host_listener_name(broker)}://localhost:{numbers[0]} for the docker "
        f"host: a second listener on port {port}, published as {numbers[0]}:{port}"
    )


def _is_published(broker: Broker, entry: ListenerEntry) -> bool:
    return bool(published_for(broker, listener_of(broker, entry.endpoint.listener) or entry))


def _sent_astray(deployment: Deployment, broker: Broker, entry: ListenerEntry) -> tuple[KafkaClient, ...]:
    """The clients that enter and do not get back to the broker: one in the docker host's network does."""
    endpoint = entry.endpoint
    found = []
    for dependent in clients_entering(deployment, broker, endpoint.listener):
        landed = accepting_listener(deployment, container_vantage(dependent.member), endpoint.host, endpoint.port)
        if landed is None or landed.broker is not broker:
            found.append(dependent)
    return tuple(found)


def _severity(entering: tuple[KafkaClient, ...]) -> Severity:
    if any(dependent.active for dependent in entering):
        return Severity.ERROR
    return Severity.WARNING if entering else Severity.NOTE
