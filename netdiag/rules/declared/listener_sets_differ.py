"""A broker lacks a listener that clients use on another broker of its cluster.

Why: A client gets only the endpoints of the listener that it connects to, so a broker that does not advertise that
listener does not exist for the client. The finding is an error if a client in the same files uses the listener, and a
warning if the listener is published. inter-broker-not-advertised covers the inter-broker listener,
advertised-not-in-listeners an advertised name that is not bound.

Bad:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 2
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:29092  # <- here

Good:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9093:9093"]
        environment:
          KAFKA_BROKER_ID: 2
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:29092,EXTERNAL://localhost:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Seen: 1 partitions have leader brokers without a matching listener, including [t-0]

Sources: KIP-103; MetadataCache omits brokers that lack the listener of the request.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import accepting_listener
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.vantage import container_vantage
from netdiag.deployment.prediction.cluster import cluster_key
from netdiag.deployment.prediction.listener_access import advertised_of, listener_of, published_for
from netdiag.findings import Finding, Related, Severity

ID = "listener-sets-differ"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker and listener that it lacks while others serve clients through it."""
    clusters: dict[object, list[Broker]] = {}
    for broker in deployment.configured:
        if broker.config.is_broker:
            clusters.setdefault(cluster_key(broker), []).append(broker)
    entered = _entered(deployment) if any(len(brokers) > 1 for brokers in clusters.values()) else frozenset()
    for brokers in clusters.values():
        names = dict.fromkeys(e.endpoint.listener for b in brokers for e in b.config.advertised_listeners)
        for name in names:
            having = [b for b in brokers if advertised_of(b, name) and listener_of(b, name)]
            lacking = [b for b in brokers if _lacks(b, name)]
            severity = _severity(having, name, entered) if lacking else None
            if severity is not None:
                yield from (_finding(broker, name, having[0], severity) for broker in lacking)


def _lacks(broker: Broker, name: str) -> bool:
    config = broker.config
    known = config.is_readable and not config.is_unknown("advertised.listeners")
    return known and name != config.inter_broker_listener and advertised_of(broker, name) is None


def _entered(deployment: Deployment) -> frozenset[tuple[str, str]]:
    """The (broker, listener) pairs that clients in the files connect to."""
    active = (d for d in deployment.clients if d.active)
    tried = (
        accepting_listener(deployment, container_vantage(d.member), a.host, a.port)
        for d in active
        for a in d.bootstraps
    )
    return frozenset((end.broker.name, end.entry.endpoint.listener) for end in tried if end)


def _severity(brokers: list[Broker], name: str, entered: frozenset[tuple[str, str]]) -> Severity | None:
    """By who uses the listener: a client in the files, clients outside, or none that the files show."""
    if any((broker.name, name) in entered for broker in brokers):
        return Severity.ERROR
    bound = ((broker, listener_of(broker, name)) for broker in brokers)
    if any(entry is not None and published_for(broker, entry) for broker, entry in bound):
        return SEVERITY
    return None


def _finding(broker: Broker, name: str, other: Broker, severity: Severity) -> Finding:
    entry = advertised_of(other, name)
    place = other.place("advertised.listeners", entry.start, entry.end) if entry else other.member.where
    return Finding(
        rule=ID,
        severity=severity,
        message=f'{broker.name} does not advertise listener "{name}", so clients of {other.name} on that listener '
        f"never find {broker.name}",
        location=broker.place("advertised.listeners"),
        related=(Related(location=place, message=f"{other.name} serves clients here"),),
        why="a client gets the endpoints of the listener it connects to, and no others",
        hint=f"add listener {name} to {broker.name}, with its own endpoint",
        service=broker.name,
        listener=name,
    )
