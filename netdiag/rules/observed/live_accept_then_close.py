"""An advertised address accepts connections and closes them at once.

Why: docker-proxy accepts connections to a published port even if nothing listens in the container, and a TLS listener
may close a plaintext connection. A port scan shows the port as open.

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
      cells:
        - {vantage: container app, bootstrap: "kafka:9092", fails: closed,
           because: "127.0.0.1:9092: closed without an answer to ApiVersions"}  # <- here

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
      cells:
        - {vantage: container app, bootstrap: "kafka:9092",
           answers: {node: 1, listener: PLAINTEXT}, told: [{node: 1, at: "kafka:9092", gives: ok}]}

Seen: Disconnected: connection reset by peer (after 1ms in state APIVERSION_QUERY); Bootstrap broker ... disconnected

Sources: the connection ends before the first byte of an answer.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import Reason
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.rules.live_findings import blocked, blocked_finding

ID = "live-accept-then-close"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every address that closes the connections of the clients it is meant for."""
    for block in blocked(view, Reason.CLOSED):
        yield blocked_finding(ID, SEVERITY, block, words="accepts connections and closes them without an answer")
