"""A broker is still starting.

Why: A broker opens its listeners last. Until then connections are refused or time out, and nothing is wrong; a client
that gives up sooner needs `depends_on` with `condition: service_healthy` and a health check of the broker. netdiag
judges no connection that fails at this broker: check again later, or let `netdiag wait` wait for it.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: alpine:3.20
    x-observed:
      starting: {kafka: its health check says starting}  # <- here
      cells:
        - {vantage: container app, bootstrap: "kafka:9092", fails: refused,
           prediction: {answers: {node: 1, of: kafka, own: true}, told: [{node: 1, at: "kafka:9092", gives: ok}]}}

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: alpine:3.20
    x-observed:
      starting: {}

Seen: Connection to node -1 (kafka/172.18.0.2:9092) could not be established. Broker may not be available.

Sources: the container's state and health as the engine reports them; the listening sockets of its network namespace.
"""

from collections.abc import Iterator

from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import ContainerLocation, Finding, Severity

ID = "live-broker-starting"
SEVERITY = Severity.NOTE


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every broker that is not up yet."""
    for broker in view.deployment.brokers:
        sign = view.starting.get(broker.name)
        if sign is not None:
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{broker.name} is still starting: {sign}, and none of its listeners is open",
                location=ContainerLocation(container=broker.name, part="state"),
                why="connections to it fail until it is up, so netdiag does not judge them",
                hint="check again when it is up; `netdiag wait` waits for that",
                service=broker.name,
            )
