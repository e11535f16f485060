"""A client looks for a broker by name on the default bridge.

Why: `network_mode: bridge` is the engine's own network, the only bridge without a resolver for container names. Legacy
links work there and are silent.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        network_mode: bridge
        environment:
          KAFKA_ZOOKEEPER_CONNECT: 172.17.0.1:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: example/app:1
        network_mode: bridge
        environment:
          KAFKA_BROKERS: kafka:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: 172.17.0.1:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9092

Seen: Couldn't resolve server kafka:9092 from bootstrap.servers as DNS resolution failed for kafka

Sources: docs.docker.com, bridge network driver: automatic DNS resolution on user-defined bridges only.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, Nameless, attempts, nameless, severity
from netdiag.deployment.member import Deployment
from netdiag.findings import Finding, Severity

ID = "default-bridge-no-dns"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every bootstrap host whose container, or whose client, is on the default bridge."""
    for attempt in attempts(deployment):
        if nameless(deployment, attempt) is Nameless.DEFAULT_BRIDGE:
            yield _finding(deployment, attempt)


def _finding(deployment: Deployment, attempt: Attempt) -> Finding:
    return Finding(
        rule=ID,
        severity=severity(deployment, attempt),
        message=f'{attempt.client.name} looks for Kafka at "{attempt.address.host}", a name that does not exist on the '
        "default bridge",
        location=attempt.where,
        why="the default bridge has no resolver for container names; the network compose makes for a project has one",
        hint="take network_mode: bridge away from both",
        service=attempt.client.name,
    )
