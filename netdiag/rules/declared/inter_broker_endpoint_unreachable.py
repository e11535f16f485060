"""Other brokers cannot reach a broker at its inter-broker endpoint.

Why: Brokers replicate over the advertised endpoint of the inter-broker listener, and with ZooKeeper the controller uses
it too. localhost, a name on another network or a port that no listener binds cuts the broker off from the others.

Bad:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 2
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092  # <- here

Good:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 2
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:29092

Seen: Connection to node 2 (kafka-2/172.18.0.4:9092) could not be established. Broker may not be available.

Sources: ReplicaFetcherThread, ControllerChannelManager; KIP-103.
"""

from collections.abc import Iterable, Iterator

from netdiag.deployment.misread_settings import is_placeholder
from netdiag.deployment.model.deployment import Broker, Deployment, Member
from netdiag.deployment.model.vantage import broker_vantage
from netdiag.deployment.model.verdict import Failed
from netdiag.deployment.prediction.client_namespace import resolve, why_nameless
from netdiag.deployment.prediction.connection import connect
from netdiag.deployment.prediction.listener_access import advertised_of, listener_of, other_brokers
from netdiag.deployment.prediction.sockets import Accepted, Reach, binding
from netdiag.deployment.repairs import advertise, service_name
from netdiag.findings import Edit, Finding, Severity
from netdiag.kafka.listeners import ListenerEntry, is_wildcard

ID = "inter-broker-endpoint-unreachable"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose inter-broker endpoint fails from another broker of its cluster."""
    for broker in deployment.configured:
        name = broker.config.inter_broker_listener
        entry, bound = advertised_of(broker, name), listener_of(broker, name)
        if entry is None or bound is None or is_wildcard(entry.endpoint.host) or is_placeholder(entry.endpoint.host):
            continue
        if binding(deployment, broker, bound).reach in (Reach.LOOPBACK, Reach.FOREIGN):
            continue
        for other in _of_each_kind(other_brokers(deployment, broker), entry.endpoint.host):
            failure = _failure(deployment, other, broker, entry)
            if failure is not None:
                yield _finding(broker, entry, other, failure)
                break


def _of_each_kind(brokers: Iterable[Broker], host: str) -> Iterable[Broker]:
    """One broker for each kind of connection: brokers with the same networks reach `host` in the same way."""

    def kind(member: Member) -> tuple[object, ...]:
        networks = tuple(attachment.network for attachment in member.attachments)
        own = member.name if host in member.hostnames else None
        return (member.mode, member.shares_with, networks, member.extra_hosts.get(host), own)

    return {kind(broker.member): broker for broker in brokers}.values()


def _failure(deployment: Deployment, source: Broker, target: Broker, entry: ListenerEntry) -> str | None:
    """Why a connection from inside `source` does not reach `target`; None if it does, or if this is unknown."""
    vantage = broker_vantage(source)
    resolution = resolve(deployment, vantage, entry.endpoint.host)
    if not isinstance(resolution, tuple):
        return why_nameless(deployment, vantage, entry.endpoint.host)
    delivery = connect(deployment, vantage, resolution[0], entry.endpoint.port)
    if isinstance(delivery, Failed):
        return delivery.because
    if isinstance(delivery, Accepted) and delivery.broker is not target:
        if any(_address(mine) == _address(entry) for mine in delivery.broker.config.advertised_listeners):
            # duplicate-advertised-endpoint reports two brokers that advertise one endpoint.
            return None
        return f"{delivery.broker.name} answers there"
    return None


def _address(entry: ListenerEntry) -> tuple[str, int]:
    return entry.endpoint.host.lower(), entry.endpoint.port


def _finding(broker: Broker, entry: ListenerEntry, other: Broker, failure: str) -> Finding:
    endpoint = entry.endpoint
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{other.name} cannot reach {broker.name} at "{endpoint.host}:{endpoint.port}": {failure}',
        location=broker.place("advertised.listeners", entry.start, entry.end),
        why="brokers replicate over the advertised endpoint of the inter-broker listener",
        hint=f"advertise {endpoint.listener}://{broker.member.service or broker.name}:PORT with the port that the "
        f"listener binds",
        service=broker.name,
        listener=endpoint.listener,
        edits=_edits(broker, entry),
    )


def _edits(broker: Broker, entry: ListenerEntry) -> tuple[Edit, ...]:
    bound = listener_of(broker, entry.endpoint.listener)
    return advertise(broker, entry, service_name(broker), bound.endpoint.port) if bound else ()
