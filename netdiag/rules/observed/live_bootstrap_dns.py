"""An advertised name does not resolve where the client runs.

Why: A client finds a broker by its advertised name; without an address it cannot connect.

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
        - {vantage: container app, bootstrap: "kafka:9092", fails: unresolved,
           because: "127.0.0.11 knows no such name"}  # <- here

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

Seen: UnknownHostException: kafka; Name or service not known; getaddrinfo ENOTFOUND kafka

Sources: name resolution in the client's own network namespace: its hosts file and its DNS servers.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import Reason
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.rules.live_findings import blocked, blocked_finding

ID = "live-bootstrap-dns"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every address that the clients it is meant for cannot resolve."""
    for block in blocked(view, Reason.UNRESOLVED):
        yield blocked_finding(ID, SEVERITY, block, words="does not resolve")
