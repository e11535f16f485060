"""A client bootstraps through a listener that advertises an address it cannot use.

Why: The bootstrap succeeds, but the broker returns an address that means nothing in the client's container, or no
address at all because the listener is not advertised. Other rules report brokers that advertise only loopback
(advertised-loopback-for-remote-clients), endpoints that other brokers cannot use either
(inter-broker-endpoint-unreachable), listeners bound to the wrong address, advertised wildcards, host names that no
container has (advertised-host-unknown) and host aliases (host-alias-portability).

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:29092

Seen: Connection to node 1 (localhost/127.0.0.1:9092) could not be established. Node may not be available.

Sources: KIP-103: a client gets the advertised endpoint of the listener that it connects to.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import (
    Attempt,
    accepting_listener,
    advertised_endpoints,
    advertises_nothing,
    attempts,
    members_called,
    severity_of,
    usable_address,
    why_failing,
)
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.verdict import Failed
from netdiag.deployment.prediction.client_namespace import HOST_ALIASES, Undeclared, resolve
from netdiag.deployment.prediction.listener_access import advertised_of, other_brokers, sends_all_to_loopback
from netdiag.deployment.prediction.sockets import Accepted, Reach, binding
from netdiag.deployment.repairs import point_client
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, bracketed, is_loopback, is_wildcard

ID = "dependent-bootstrap-external-listener"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every bootstrap address that works but returns no endpoint that does."""
    for attempt in attempts(deployment):
        landed = accepting_listener(deployment, attempt.vantage, attempt.address.host, attempt.address.port)
        if landed is None or landed.broker not in deployment.serving or _is_reported(deployment, landed):
            continue
        if advertises_nothing(deployment, landed):
            yield _told_nothing(deployment, attempt, landed)
            continue
        named = [entry for _, entry in advertised_endpoints(deployment, landed)]
        failures = [_failure(deployment, attempt, entry) for entry in named]
        if failures and failures[0] is not None and None not in failures:
            yield _finding(deployment, attempt, landed, named[0], failures[0])


def _is_reported(deployment: Deployment, landed: Accepted) -> bool:
    """Whether another rule reports that no client can use the advertised endpoint, or the files do not show it."""
    broker, name = landed.broker, landed.entry.endpoint.listener
    if (
        broker.is_configured_by_file
        or name in broker.config.controller_names
        or sends_all_to_loopback(deployment, broker)
    ):
        return True
    if name == broker.config.inter_broker_listener and other_brokers(deployment, broker):
        return True
    return binding(deployment, broker, landed.entry).reach is not Reach.EVERYWHERE and not is_loopback(
        _host_of(advertised_of(broker, name))
    )


def _host_of(entry: ListenerEntry | None) -> str:
    return entry.endpoint.host if entry else ""


def _failure(deployment: Deployment, attempt: Attempt, entry: ListenerEntry) -> str | None:
    """Why the client cannot use an endpoint; None if it can, if this is unknown, or if another rule reports it."""
    host, port = entry.endpoint.host, entry.endpoint.port
    if is_wildcard(host) or host in HOST_ALIASES:
        return None
    if not (is_loopback(host) or members_called(deployment, host)):
        return None
    return why_failing(deployment, attempt.vantage, host, port)


def _finding(deployment: Deployment, attempt: Attempt, landed: Accepted, entry: ListenerEntry, because: str) -> Finding:
    broker, name = landed.broker, landed.entry.endpoint.listener
    return Finding(
        rule=ID,
        severity=severity_of(deployment, attempt),
        message=f"{attempt.member.name} bootstraps from {broker.name} at {attempt.address} and is sent to "
        f'"{bracketed(entry.endpoint.host)}:{entry.endpoint.port}": {because}',
        location=attempt.where,
        related=_advertised(broker, name),
        why=f"port {attempt.address.port} belongs to listener {name}, and a client gets the address which that "
        f"listener "
        "advertises",
        hint=_hint(deployment, attempt, broker),
        service=attempt.member.name,
        listener=name,
        edits=point_client(deployment, attempt, (broker,)),
    )


def _told_nothing(deployment: Deployment, attempt: Attempt, landed: Accepted) -> Finding:
    broker, name = landed.broker, landed.entry.endpoint.listener
    place = broker.place("listeners", landed.entry.start, landed.entry.end)
    return Finding(
        rule=ID,
        severity=severity_of(deployment, attempt),
        message=f"{attempt.member.name} bootstraps from {broker.name} at {attempt.address} through listener {name}, "
        f"which is not advertised, so it gets no broker address",
        location=attempt.where,
        related=(Related(location=place, message=f"port {attempt.address.port} belongs to {name}"),),
        why="a client gets the advertised endpoints of the listener it connects to, and this listener has none",
        hint=_hint(deployment, attempt, broker),
        service=attempt.member.name,
        listener=name,
    )


def _advertised(broker: Broker, name: str) -> tuple[Related, ...]:
    entry = advertised_of(broker, name)
    if entry is None:
        return ()
    place = broker.place("advertised.listeners", entry.start, entry.end)
    return (Related(location=place, message="the address that the client gets"),)


def _hint(deployment: Deployment, attempt: Attempt, broker: Broker) -> str:
    better = usable_address(deployment, attempt, (broker,))
    if better is not None:
        return f"set {attempt.client.setting} to {better}"
    add = f"add a listener to {broker.name} that advertises"
    if isinstance(resolve(deployment, attempt.vantage, broker.name), Failed | Undeclared):
        return f"{add} {bracketed(attempt.address.host)} and the port that it binds"
    return f"{add} its service name and the port that it binds"
