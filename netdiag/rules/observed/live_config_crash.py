"""A broker does not run.

Why: a container that has exited, or that is restarted over and over, serves nobody; the line of its log that ends it
says why.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      stopped: {kafka: "exited with 1: Timed out waiting for connection to Zookeeper"}  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      stopped: {}

Seen: requirement failed: ..., ConfigException: ..., Socket server failed to bind to ...

Sources: the state that the engine reports, and the end of the container's log.
"""

from collections.abc import Iterator

from netdiag.deployment.live_view import LiveView
from netdiag.findings import ContainerLocation, Finding, Severity

ID = "live-config-crash"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every broker that does not run."""
    for broker in view.deployment.brokers:
        reason = view.stopped.get(broker.name)
        if reason is None:
            continue
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{broker.name} is not running: {reason}",
            location=ContainerLocation(container=broker.name, part="log"),
            why="nothing listens in a container that does not run, and its names do not resolve",
            hint=f"mend what the log says, then start {broker.name} again",
            service=broker.name,
        )
