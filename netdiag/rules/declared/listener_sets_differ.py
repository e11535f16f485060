"""A broker lacks a listener that clients use on another broker of its cluster.

Why: a client that entered through a listener is told the endpoints of that name only; a broker that advertises none
does not exist for it. An error where a client in the same files enters there, a warning where the listener is
published. The listener that brokers use among themselves is inter-broker-not-advertised, an advertised name without a
bound one is advertised-not-in-listeners.

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

Sources: KIP-103; MetadataCache leaves out brokers without the listener that was asked.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import landing
from netdiag.deployment.cluster import cluster_key
from netdiag.deployment.entrants import advertised_of, container_vantage, listener_of, published_for
from netdiag.deployment.member import Broker, Deployment
from netdiag.findings import Finding, Related, Severity

ID = "listener-sets-differ"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker and listener name that it lacks and others serve clients with."""
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
    """The (broker, listener) pairs at which clients of the files arrive."""
    active = (d for d in deployment.dependents if d.active)
    tried = (landing(deployment, container_vantage(d.member), a.host, a.port) for d in active for a in d.bootstraps)
    return frozenset((end.broker.name, end.entry.endpoint.listener) for end in tried if end)


def _severity(brokers: list[Broker], name: str, entered: frozenset[tuple[str, str]]) -> Severity | None:
    """By who enters through the listener: a client of the files, somebody outside, or nobody that is shown."""
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
        message=f"{broker.name} advertises no {name}: clients that enter {other.name} there never find it",
        location=broker.place("advertised.listeners"),
        related=(Related(location=place, message=f"{other.name} serves clients here"),),
        why="a client is told the endpoints of the listener it entered through, and no others",
        hint=f"give {broker.name} a listener {name} with an endpoint of its own",
        service=broker.name,
        listener=name,
    )
