"""A listener that others enter through is bound to the container's loopback.

Why: 127.0.0.1 inside a container is that container alone. Published ports and other containers arrive at the
address of its network interface, where nothing listens then.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092  # <- here
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://0.0.0.0:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Seen: Connection to node 1 (broker-1/172.18.0.3:29092) could not be established. Broker may not be available.

Sources: SocketServer.openServerSocket; Docker delivers to the container's interface, not to its loopback.
"""

from collections.abc import Iterator

from netdiag.deployment.binding import Reach, binding
from netdiag.deployment.cluster import cluster_of
from netdiag.deployment.entrants import advertised_of, other_brokers, published_for
from netdiag.deployment.member import Broker, Deployment, NetworkMode
from netdiag.deployment.repairs import rewrite
from netdiag.findings import Applicability, Edit, Finding, Related, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.listeners import ListenerEntry, endpoint_text, is_loopback

ID = "listener-bound-to-loopback"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every loopback listener that a published port or another container leads to."""
    for broker in deployment.serving:
        if broker.member.mode in (NetworkMode.HOST, NetworkMode.NONE):
            continue
        for entry in broker.config.listeners:
            if binding(deployment, broker, entry).reach is Reach.LOOPBACK:
                yield from _judged(deployment, broker, entry)


def _judged(deployment: Deployment, broker: Broker, entry: ListenerEntry) -> Iterator[Finding]:
    """By who enters: a published port, other brokers or controllers, or nobody that can be told."""
    name, endpoint = entry.endpoint.listener, entry.endpoint
    for port in published_for(broker, entry)[:1]:
        related = Related(location=port.where, message=f"published, but leads to port {endpoint.port} of eth0")
        yield _finding(broker, entry, "the published port cannot reach it", Severity.ERROR, (related,))
        return
    advertised = advertised_of(broker, name)
    if name in broker.config.controller_names:
        if len(cluster_of(deployment, broker)) > 1:
            yield _finding(broker, entry, "the other nodes of the quorum cannot reach it", Severity.ERROR, ())
        return
    if advertised is None or is_loopback(advertised.endpoint.host):
        return
    place = broker.place("advertised.listeners", advertised.start, advertised.end)
    related = Related(location=place, message="where others are sent, which is not loopback")
    if name == broker.config.inter_broker_listener:
        if other_brokers(deployment, broker):
            yield _finding(broker, entry, "the other brokers cannot reach it", Severity.ERROR, (related,))
            return
        if broker.config.mode is Mode.ZOOKEEPER:
            yield _finding(broker, entry, "its own controller cannot reach it", Severity.ERROR, (related,))
            return
    yield _finding(broker, entry, "containers are sent to an address it does not bind", Severity.WARNING, (related,))


def _finding(
    broker: Broker, entry: ListenerEntry, effect: str, severity: Severity, related: tuple[Related, ...]
) -> Finding:
    return Finding(
        rule=ID,
        severity=severity,
        message=f"{entry.endpoint.listener} of {broker.name} is bound to {entry.endpoint.host}: {effect}",
        location=broker.place("listeners", entry.host_start, entry.host_end),
        related=related,
        why="loopback inside a container is that container alone; everybody else arrives at its network interface",
        hint=f"bind every address: {endpoint_text(entry.endpoint.listener, _everywhere(broker), entry.endpoint.port)}",
        service=broker.name,
        listener=entry.endpoint.listener,
        edits=_edits(broker, entry, severity),
    )


def _edits(broker: Broker, entry: ListenerEntry, severity: Severity) -> tuple[Edit, ...]:
    """Safe where a published port, the other brokers or the quorum enter here: the file can only have meant that."""
    meant = Applicability.SAFE if severity is Severity.ERROR else Applicability.UNSAFE
    return rewrite(broker, "listeners", entry.host_start, entry.host_end, _everywhere(broker), meant)


def _everywhere(broker: Broker) -> str:
    """0.0.0.0, or nothing where the bound address would be advertised as well."""
    explicit = broker.config.mode is Mode.REDPANDA or broker.config.value("advertised.listeners")
    return "0.0.0.0" if explicit else ""
