"""A listener for other containers or clients binds the container's loopback.

Why: 127.0.0.1 inside a container is that container only. Connections from published ports and other containers arrive
at the address of its network interface, where nothing listens.

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

Sources: SocketServer.openServerSocket; Docker delivers connections to the container's interface, not to its loopback.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode
from netdiag.deployment.prediction.cluster import cluster_of
from netdiag.deployment.prediction.listener_access import advertised_of, other_brokers, published_for
from netdiag.deployment.prediction.sockets import Reach, binding
from netdiag.deployment.repairs import replace_text
from netdiag.findings import Applicability, Edit, Finding, Related, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.listeners import ListenerEntry, endpoint_text, is_loopback

ID = "listener-bound-to-loopback"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every loopback listener that a published port or another container uses."""
    for broker in deployment.serving:
        if broker.member.mode in (NetworkMode.HOST, NetworkMode.NONE):
            continue
        for entry in broker.config.listeners:
            if binding(deployment, broker, entry).reach is Reach.LOOPBACK:
                yield from _judged(deployment, broker, entry)


def _judged(deployment: Deployment, broker: Broker, entry: ListenerEntry) -> Iterator[Finding]:
    """By who connects: a published port, other brokers or controllers, or clients that the files do not show."""
    name, endpoint = entry.endpoint.listener, entry.endpoint
    for port in published_for(broker, entry)[:1]:
        related = Related(location=port.where, message=f"leads to port {endpoint.port} of the container's interface")
        yield _finding(broker, entry, "its published port does not work", Severity.ERROR, (related,))
        return
    advertised = advertised_of(broker, name)
    if name in broker.config.controller_names:
        if len(cluster_of(deployment, broker)) > 1:
            yield _finding(broker, entry, "the other nodes of the quorum cannot reach it", Severity.ERROR, ())
        return
    if advertised is None or is_loopback(advertised.endpoint.host):
        return
    place = broker.place("advertised.listeners", advertised.start, advertised.end)
    related = Related(location=place, message="the address that clients get is not loopback")
    if name == broker.config.inter_broker_listener:
        if other_brokers(deployment, broker):
            yield _finding(broker, entry, "the other brokers cannot reach it", Severity.ERROR, (related,))
            return
        if broker.config.mode is Mode.ZOOKEEPER:
            yield _finding(broker, entry, "the controller cannot reach it", Severity.ERROR, (related,))
            return
    yield _finding(broker, entry, "it does not listen on the address it advertises", Severity.WARNING, (related,))


def _finding(
    broker: Broker, entry: ListenerEntry, effect: str, severity: Severity, related: tuple[Related, ...]
) -> Finding:
    return Finding(
        rule=ID,
        severity=severity,
        message=f'listener {entry.endpoint.listener} of {broker.name} binds "{entry.endpoint.host}": {effect}',
        location=broker.place("listeners", entry.host_start, entry.host_end),
        related=related,
        why="loopback is the container itself; all other connections arrive at the container's network interface",
        hint=f"bind all addresses: {endpoint_text(entry.endpoint.listener, _everywhere(broker), entry.endpoint.port)}",
        service=broker.name,
        listener=entry.endpoint.listener,
        edits=_edits(broker, entry, severity),
    )


def _edits(broker: Broker, entry: ListenerEntry, severity: Severity) -> tuple[Edit, ...]:
    """Safe if a published port, the other brokers or the quorum use the listener: the file can mean nothing else."""
    meant = Applicability.SAFE if severity is Severity.ERROR else Applicability.UNSAFE
    return replace_text(broker, "listeners", entry.host_start, entry.host_end, _everywhere(broker), meant)


def _everywhere(broker: Broker) -> str:
    """0.0.0.0, or nothing if the broker would advertise the bound address too."""
    explicit = broker.config.mode is Mode.REDPANDA or broker.config.value("advertised.listeners")
    return "0.0.0.0" if explicit else ""
