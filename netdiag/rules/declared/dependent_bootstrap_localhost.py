"""A client container bootstraps from its own loopback address.

Why: `localhost` in a container means the container itself, and no broker listens there. The finding is an error if a
broker is in the same files, and a warning if there is none or the client's profile is inactive. A container that shares
the network namespace of the broker or of the docker host may use localhost.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: localhost:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9092

Seen: Connection to node -1 (localhost/127.0.0.1:9092) could not be established. Node may not be available.

Sources: network_namespaces(7): every container has a loopback interface of its own.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import (
    Attempt,
    attempts,
    holds_broker,
    runs_only_tools,
    severity_of,
    usable_address,
    why_failing,
)
from netdiag.deployment.model.deployment import Deployment, NetworkMode
from netdiag.deployment.repairs import point_client
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import is_loopback

ID = "dependent-bootstrap-localhost"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every loopback address in a bootstrap list of a container without a broker."""
    for attempt in attempts(deployment):
        address, client = attempt.address, attempt.member
        if not is_loopback(address.host) or client.mode is NetworkMode.HOST:
            continue
        if holds_broker(client) and not runs_only_tools(attempt):
            continue
        if any(port.target == address.port for port in client.published):
            continue
        if why_failing(deployment, attempt.vantage, address.host, address.port):
            yield _finding(deployment, attempt)


def _finding(deployment: Deployment, attempt: Attempt) -> Finding:
    client, variable = attempt.member, attempt.client.setting
    better = usable_address(deployment, attempt)
    return Finding(
        rule=ID,
        severity=severity_of(deployment, attempt) if deployment.brokers else Severity.WARNING,
        message=f'{client.name} bootstraps from "{attempt.address}", which is {client.name} itself',
        location=attempt.where,
        why="localhost inside a container is that container, not the docker host and not the broker",
        hint=f"set {variable} to {better}"
        if better
        else "use the name of the broker's service and a port it listens on",
        service=client.name,
        edits=point_client(deployment, attempt),
    )
