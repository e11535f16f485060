"""An address uses a host name that only some Docker installations resolve.

Why: host.docker.internal resolves on Docker Desktop, and on Linux only in containers that map it with extra_hosts; no
other machine resolves it. The finding is a warning if a client in the same files depends on it without extra_hosts, and
a note otherwise.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://host.docker.internal:9092  # <- here
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
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
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:29092

Seen: getaddrinfo ENOTFOUND host.docker.internal

Sources: docs.docker.com, Docker Desktop networking; moby 20.10, host-gateway.
"""

import re
from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, attempts, clients_entering
from netdiag.deployment.model.deployment import Broker, Deployment, KafkaClient, NetworkMode
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry
from netdiag.patterns import regex

ID = "host-alias-portability"
SEVERITY = Severity.WARNING

_ALIAS = regex(
    r"(?:host|gateway)\.docker\.internal|docker\.for\.(?:mac|win)\.(?:localhost|host\.internal)", re.IGNORECASE
)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every alias of the docker host that is advertised, or used to bootstrap without a mapping."""
    if deployment.facts.docker_desktop or deployment.platform.virtual_machine is not None:
        return
    for broker in deployment.serving:
        for entry in broker.config.advertised_listeners:
            if _ALIAS.fullmatch(entry.endpoint.host):
                yield _advertised(deployment, broker, entry)
    for attempt in attempts(deployment):
        if _ALIAS.fullmatch(attempt.address.host) and not _maps(attempt.client, attempt.address.host):
            yield _bootstrap(deployment, attempt)


def _maps(dependent: KafkaClient, host: str) -> bool:
    return host in dependent.member.extra_hosts


def _severity(deployment: Deployment) -> Severity:
    """An error if the user says that there is no Docker Desktop."""
    return SEVERITY if deployment.facts.docker_desktop is None else Severity.ERROR


def _advertised(deployment: Deployment, broker: Broker, entry: ListenerEntry) -> Finding:
    name, host = entry.endpoint.listener, entry.endpoint.host
    entering = [d for d in clients_entering(deployment, broker, name) if not _maps(d, host)]
    return Finding(
        rule=ID,
        severity=_severity(deployment) if entering else Severity.NOTE,
        message=f'listener {name} of {broker.name} sends clients to "{host}", which resolves only on Docker Desktop by '
        f"default",
        location=broker.place("advertised.listeners", entry.host_start, entry.host_end),
        related=tuple(
            Related(
                location=d.declared.at(), message=f"{d.member.name} connects here and has no extra_hosts entry for it"
            )
            for d in entering
        ),
        why="on Linux the name resolves only in containers that map it",
        hint="let containers use a listener that advertises the service name, and advertise localhost to the docker "
        "host",
        service=broker.name,
        listener=name,
    )


def _bootstrap(deployment: Deployment, attempt: Attempt) -> Finding:
    host, client = attempt.address.host, attempt.member
    in_host = client.mode is NetworkMode.HOST
    return Finding(
        rule=ID,
        severity=_severity(deployment),
        message=f'{client.name} bootstraps from "{host}", which resolves only on Docker Desktop by default',
        location=attempt.where,
        why="on Linux the name resolves only in containers that map it",
        hint="use localhost" if in_host else f'add extra_hosts: ["{host}:host-gateway"] to {client.name}',
        service=client.name,
    )
