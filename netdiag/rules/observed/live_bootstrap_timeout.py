"""An advertised address does not answer, or there is no route to it.

Why: If packets are dropped on the way, or the process at the end is frozen, a client waits until its timeout.

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
        - {vantage: container app, bootstrap: "kafka:9092", fails: timeout,
           because: "172.18.0.2:9092 did not answer in 4.0 s"}  # <- here

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

Seen: Disconnecting from node 1 due to socket connection setup timeout. The timeout value is 10000 ms.

Sources: connect(2) and the first response, from the client's network namespace.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import Reason
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.rules.live_findings import blocked, blocked_finding

ID = "live-bootstrap-timeout"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every address that does not answer the clients it is meant for, or has no route from them."""
    for block in blocked(view, Reason.TIMEOUT, Reason.UNREACHABLE):
        yield blocked_finding(ID, SEVERITY, block, words="does not answer")
