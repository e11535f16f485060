"""A client uses another protocol on a Kafka port: HTTP or ZooKeeper's.

Why: The broker reads the first bytes as the length of a message ("GET " is 1195725856), finds it too large and closes
the connection. Typical senders are a health check or a browser, a client of Schema Registry or REST Proxy with the
wrong port, and old tools that use a broker's address for ZooKeeper.

Bad:
    attempts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", opening: complete, protocol: http, times: 6,  # <- here
         hung_up: 6, last: 50}
      - {client: "10.0.0.7:40999", broker: "10.0.0.2:9092", opening: complete, protocol: kafka, requests: 5,
         responses: 5, last: 60}

Good:
    attempts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:8081", opening: complete, protocol: http, times: 6, last: 50}
      - {client: "10.0.0.7:40999", broker: "10.0.0.2:9092", opening: complete, protocol: kafka, requests: 5,
         responses: 5, last: 60}

Seen: InvalidReceiveException: Invalid receive (size = 1195725856 larger than 104857600)

Sources: socket.request.max.bytes; RFC 9112, section 3.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import finding, times, who
from netdiag.traffic.facts import WireView
from netdiag.traffic.second_hop import kafka_addresses

ID = "wire-stranger-on-kafka-port"
SEVERITY = Severity.WARNING

_NAMES = {"http": "HTTP", "zookeeper": "ZooKeeper's protocol"}


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client address, port and strange protocol on a port that answers Kafka and closes on it."""
    brokers = kafka_addresses(view)
    for attempt in view.attempts:
        name = _NAMES.get(attempt.protocol)
        if name is None or not attempt.hung_up or not {attempt.broker, *attempt.also} & brokers:
            continue
        yield finding(
            ID,
            SEVERITY,
            attempt,
            f"{who(attempt)} uses {name} on {attempt.broker}, which is a Kafka port and closes the connection "
            f"({times(attempt.hung_up)})",
            why="the broker reads the first bytes as the length of a message that is far too large",
            hint=f"find out which program on {attempt.client_host} connects there (a health check, a wrong port), and "
            f"correct "
            "its address",
        )
