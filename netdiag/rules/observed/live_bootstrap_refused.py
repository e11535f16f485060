"""An advertised address refuses connections.

Why: Nothing listens there: the broker is still starting, it listens on another address or port, or the port is not
published.

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
        - {vantage: container app, bootstrap: "kafka:9092", fails: refused,
           because: "172.18.0.2:9092 refuses connections"}  # <- here

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

Seen: Connection to node -1 (kafka/172.18.0.2:9092) could not be established. Broker may not be available.

Sources: connect(2) from the client's network namespace; the listening sockets of the broker's.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import Reason
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.rules.live_findings import blocked, blocked_finding

ID = "live-bootstrap-refused"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every address that refuses the clients it is meant for."""
    for block in blocked(view, Reason.REFUSED):
        yield blocked_finding(ID, SEVERITY, block, words="refuses connections")
