"""A client reaches only some brokers of a cluster.

Why: A client sends requests to the leader of each partition. Requests for partitions whose leader it cannot reach fail,
while all others succeed. Other rules report endpoints that the other brokers cannot use either
(inter-broker-endpoint-unreachable), that two brokers share (duplicate-advertised-endpoint), or whose host name no
container has (advertised-host-unknown).

Bad:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,CLIENT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092,CLIENT://kafka-1:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CLIENT:PLAINTEXT
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 2
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,CLIENT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:29092,CLIENT://kafka-2:9093  # <- here
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CLIENT:PLAINTEXT
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka-1:9092

Good:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,CLIENT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092,CLIENT://kafka-1:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CLIENT:PLAINTEXT
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 2
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,CLIENT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:29092,CLIENT://kafka-2:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CLIENT:PLAINTEXT
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka-1:9092

Seen: Connection to node 2 (kafka-2/172.18.0.4:9093) could not be established. Node may not be available.

Sources: KIP-103; a metadata response has one endpoint of every broker, for the listener that received the request.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import (
    Attempt,
    SecondHop,
    accepting_listener,
    attempts,
    members_called,
    second_hops,
    why_failing,
)
from netdiag.deployment.model.deployment import Broker, Deployment, Member, NetworkMode
from netdiag.deployment.model.vantage import broker_vantage
from netdiag.deployment.prediction.client_namespace import HOST_ALIASES
from netdiag.deployment.prediction.listener_access import other_brokers, sends_all_to_loopback
from netdiag.deployment.prediction.sockets import Accepted
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, bracketed, is_loopback, is_wildcard

ID = "dependent-reaches-some-brokers"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised endpoint that fails for a client which other brokers of the cluster serve."""
    found: dict[tuple[str, str], tuple[SecondHop, list[Attempt]]] = {}
    for attempt in attempts(deployment):
        landed = accepting_listener(deployment, attempt.vantage, attempt.address.host, attempt.address.port)
        if landed is None or landed.broker not in deployment.configured:
            continue
        sent = second_hops(deployment, attempt.vantage, landed)
        if not any(one.works for one in sent):
            continue
        for one in sent:
            if one.because and not _is_reported(deployment, landed, one):
                key = (one.broker.name, one.entry.endpoint.listener)
                found.setdefault(key, (one, []))[1].append(attempt)
    for one, clients in found.values():
        yield _finding(one, clients)


def _is_reported(deployment: Deployment, landed: Accepted, one: SecondHop) -> bool:
    """Whether another rule reports that no client can use the endpoint, or the files do not show what it is."""
    broker, host, port = one.broker, one.entry.endpoint.host, one.entry.endpoint.port
    if broker not in deployment.configured or broker.is_configured_by_file or sends_all_to_loopback(deployment, broker):
        return True
    if is_wildcard(host) or host in HOST_ALIASES or not (is_loopback(host) or members_called(deployment, host)):
        return True
    others = other_brokers(deployment, broker)
    if any(_advertises(other, one.entry) for other in others):
        return True
    if one.entry.endpoint.listener != landed.broker.config.inter_broker_listener:
        return False
    return any(why_failing(deployment, broker_vantage(other), host, port) for other in others)


def _advertises(broker: Broker, entry: ListenerEntry) -> bool:
    same = (entry.endpoint.host, entry.endpoint.port)
    return any((e.endpoint.host, e.endpoint.port) == same for e in broker.config.advertised_listeners)


def _finding(one: SecondHop, clients: list[Attempt]) -> Finding:
    endpoint, first = one.entry.endpoint, clients[0]
    names = list(dict.fromkeys(attempt.member.name for attempt in clients))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    active = any(attempt.client.active for attempt in clients)
    advertised = one.broker.place("advertised.listeners", one.entry.start, one.entry.end)
    network = _missing_network(one.broker.member, first.member)
    told = Related(location=advertised, message=f"the address that clients get for {one.broker.name}")
    enters = Related(location=first.where, message=f"{first.member.name} connects here")
    return Finding(
        rule=ID,
        severity=SEVERITY if active else Severity.WARNING,
        message=f"{names[0]}{more} can reach other brokers, but not {one.broker.name} at "
        f'"{bracketed(endpoint.host)}:{endpoint.port}": {one.because}',
        location=first.where if network else advertised,
        related=(told if network else enters,),
        why="a client gets one endpoint of every broker, and needs those of all brokers that lead its partitions",
        hint=f"attach {first.member.name} to {network}"
        if network
        else f"advertise an address for {endpoint.listener} of {one.broker.name} that its clients can reach",
        service=first.member.name if network else one.broker.name,
        listener=endpoint.listener,
    )


def _missing_network(broker: Member, client: Member) -> str | None:
    """The network that a client would have to join; None where the two share one, or have none of their own."""
    if client.mode is not NetworkMode.NETWORKS or not broker.attachments:
        return None
    return None if any(broker.on(a.network) for a in client.attachments) else broker.attachments[0].network
