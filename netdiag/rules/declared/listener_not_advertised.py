"""A client enters through a listener that no broker advertises.

Why: a broker answers with the endpoints of the listener that a client came in through. Where no broker of the cluster
advertises that listener the answer names nobody, and the client waits until it gives up. Said only where a client in
the same files enters there: a listener for a health check needs no advertisement.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,OTHER://:9092  # <- here
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9092

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,OTHER://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:29092

Seen: Timed out waiting for a node assignment. Call: listTopics
    partitions have leader brokers without a matching listener

Sources: KIP-103; MetadataCache.getAliveBrokerNodes.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, attempts, landing, severity
from netdiag.deployment.delivery import Landed
from netdiag.deployment.entrants import advertised_of, other_brokers
from netdiag.deployment.member import Deployment
from netdiag.findings import Finding, Related, Severity

ID = "listener-not-advertised"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every listener that a client enters and nobody advertises."""
    entered: dict[tuple[str, str], tuple[Landed, list[Attempt]]] = {}
    for attempt in attempts(deployment):
        landed = landing(deployment, attempt.vantage, attempt.address.host, attempt.address.port)
        if landed is not None and _is_unadvertised(deployment, landed):
            key = (landed.broker.name, landed.entry.endpoint.listener)
            entered.setdefault(key, (landed, []))[1].append(attempt)
    for landed, clients in entered.values():
        yield _finding(deployment, landed, clients)


def _is_unadvertised(deployment: Deployment, landed: Landed) -> bool:
    broker, name = landed.broker, landed.entry.endpoint.listener
    config = broker.config
    if broker not in deployment.configured or not config.is_broker or not config.is_readable:
        return False
    if broker.is_configured_by_file or name in config.controller_names or config.is_unknown("advertised.listeners"):
        return False
    brokers = (broker, *other_brokers(deployment, broker))
    return bool(config.advertised_listeners) and not any(advertised_of(other, name) for other in brokers)


def _finding(deployment: Deployment, landed: Landed, clients: list[Attempt]) -> Finding:
    broker, entry = landed.broker, landed.entry
    worst = max((severity(deployment, attempt) for attempt in clients), key=lambda found: found.rank)
    names = " and ".join(dict.fromkeys(attempt.client.name for attempt in clients))
    return Finding(
        rule=ID,
        severity=worst,
        message=f"{names} enters {broker.name} through {entry.endpoint.listener}, which is not advertised",
        location=broker.place("listeners", entry.start, entry.end),
        related=tuple(Related(location=a.where, message=f"{a.client.name} enters here") for a in clients[:3]),
        why="a client is told the endpoints of the listener it came in through, and of this one there are none",
        hint=f"advertise {entry.endpoint.listener} as well, or lead the client to a listener that is advertised",
        service=broker.name,
        listener=entry.endpoint.listener,
    )
