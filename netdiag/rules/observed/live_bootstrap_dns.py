"""A name that is advertised to a client does not resolve where the client stands.

Why: a broker is found by the name that it advertises; without an address there is nothing to connect to.

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

Sources: the name service of the client's own namespace: its hosts file and its name servers.
"""

from collections.abc import Iterator

from netdiag.deployment.live_view import LiveView
from netdiag.deployment.observations import Reason
from netdiag.findings import Finding, Severity
from netdiag.rules.live_findings import blocked, told

ID = "live-bootstrap-dns"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every address that is meant for somebody who cannot resolve it."""
    for block in blocked(view, Reason.UNRESOLVED):
        yield told(
            ID,
            SEVERITY,
            block,
            words="is not resolved",
            hint="put both on one network, or advertise a name that is known there",
        )
