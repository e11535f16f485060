"""The advertised port of the docker host leads to another listener.

Why: A client connects to the advertised port of the docker host, arrives at a container port that belongs to another
listener, and gets the address that this listener advertises. This rule also reports an advertised port that is
published to a container port without a listener (instead of published-port-without-listener), and every wrong port that
the broker itself publishes (instead of advertised-port-differs-from-published).

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

Sources: KIP-103; SocketServer: the port that a connection arrives at decides the listener.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, PublishedPort
from netdiag.deployment.prediction.listener_access import listener_of, published_to_wrong_port
from netdiag.deployment.repairs import change_target
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry

ID = "published-port-wrong-listener"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every endpoint on the docker host whose port is published to another container port."""
    for broker in deployment.serving:
        for entry in broker.config.advertised_listeners:
            bound = listener_of(broker, entry.endpoint.listener)
            port = published_to_wrong_port(deployment, broker, entry)
            if bound is not None and port is not None:
                yield _finding(broker, entry, bound, port)


def _finding(broker: Broker, entry: ListenerEntry, bound: ListenerEntry, port: PublishedPort) -> Finding:
    endpoint = entry.endpoint
    owner = next((e.endpoint.listener for e in broker.config.listeners if e.endpoint.port == port.target), None)
    lands = f"the port of listener {owner}" if owner else "which no listener binds"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'listener {endpoint.listener} of {broker.name} sends clients to "{endpoint.host}:{endpoint.port}", '
        f"but that port is published to container port {port.target}, {lands}",
        location=port.where,
        related=(
            Related(
                location=broker.place("advertised.listeners", entry.start, entry.end),
                message=f"listener {endpoint.listener} binds {bound.endpoint.port}",
            ),
        ),
        why="the container port decides which listener answers, and that listener returns its own advertised address",
        hint=f'publish the port of {endpoint.listener}: "{endpoint.port}:{bound.endpoint.port}"',
        service=broker.name,
        listener=endpoint.listener,
        edits=change_target(broker.member, port, bound.endpoint.port),
    )
