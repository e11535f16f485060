"""A broker publishes ports, but all its networks are internal.

Why: The engine publishes no ports for a container that is only on internal networks, and prints no warning.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks: [closed]
        ports: ["9092:9092"]  # <- here
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
    networks:
      closed:
        internal: true

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks: [closed, open]
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
    networks:
      closed:
        internal: true
      open:

Seen: Connect to ipv4#127.0.0.1:9092 failed: Connection refused

Sources: compose-spec, internal; the bridge driver does not map ports on internal networks.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.prediction.listener_access import is_on_internal_networks_only
from netdiag.findings import Finding, Related, Severity

ID = "internal-network-published"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose published ports the engine ignores."""
    for broker in deployment.brokers:
        if broker.member.published and is_on_internal_networks_only(deployment, broker):
            yield _finding(deployment, broker)


def _finding(deployment: Deployment, broker: Broker) -> Finding:
    networks = [deployment.networks[a.network] for a in broker.member.attachments]
    names = " and ".join(network.key for network in networks)
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} publishes ports, but is only on internal networks: {names}",
        location=broker.member.published[0].where,
        related=tuple(Related(location=n.where, message="internal: no port is published") for n in networks if n.where),
        why="the engine publishes ports only through networks that are not internal",
        hint=f"also attach {broker.name} to a network that is not internal",
        service=broker.name,
    )
