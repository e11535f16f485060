"""The advertised port of the docker host leads to another listener.

Why: a client is told the docker host's port, connects there, arrives at a container port that belongs to another
listener, and is told what that one advertises. Where the published container port has no listener at all, this is
reported here and not as published-port-without-listener; and wherever the broker itself publishes the advertised port,
here and not as advertised-port-differs-from-published.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["20031:9092"]  # <- here
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,EXTERNAL://127.0.0.1:20031
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["20031:20031"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,EXTERNAL://127.0.0.1:20031
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Seen: java.net.UnknownHostException: kafka, after a successful bootstrap

Sources: KIP-103; SocketServer: the listener is that of the port the connection arrives at.
"""

from collections.abc import Iterator

from netdiag.deployment.entrants import listener_of, published_astray
from netdiag.deployment.member import Broker, Deployment, PublishedPort
from netdiag.deployment.repairs import lead
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry

ID = "published-port-wrong-listener"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every host-facing endpoint whose port is published to another container port."""
    for broker in deployment.serving:
        for entry in broker.config.advertised_listeners:
            bound = listener_of(broker, entry.endpoint.listener)
            port = published_astray(deployment, broker, entry)
            if bound is not None and port is not None:
                yield _finding(broker, entry, bound, port)


def _finding(broker: Broker, entry: ListenerEntry, bound: ListenerEntry, port: PublishedPort) -> Finding:
    endpoint = entry.endpoint
    owner = next((e.endpoint.listener for e in broker.config.listeners if e.endpoint.port == port.target), None)
    lands = f"which is {owner}" if owner else "which no listener has"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{endpoint.listener} of {broker.name} sends clients to {endpoint.host}:{endpoint.port}, which is "
        f"published to container port {port.target}, {lands}",
        location=port.where,
        related=(
            Related(
                location=broker.place("advertised.listeners", entry.start, entry.end),
                message=f"{endpoint.listener} itself listens on {bound.endpoint.port}",
            ),
        ),
        why="the container port decides which listener answers, and that one tells what it advertises itself",
        hint=f'publish the port of {endpoint.listener}: "{endpoint.port}:{bound.endpoint.port}"',
        service=broker.name,
        listener=endpoint.listener,
        edits=lead(broker.member, port, bound.endpoint.port),
    )
