"""A client speaks another protocol to a port of Kafka: HTTP or ZooKeeper's.

Why: the broker takes the first bytes for the length of a message ("GET " is 1195725856), finds it too large and hangs
up. Usual senders: a health check or a browser, a client of Schema Registry or the REST proxy with the wrong port, old
tools that were given a broker as ZooKeeper.

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
from netdiag.traffic.fates import kafka_addresses

ID = "wire-stranger-on-kafka-port"
SEVERITY = Severity.WARNING

_NAMES = {"http": "HTTP", "zookeeper": "ZooKeeper's protocol"}


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client address, port and strange protocol that is hung up on where Kafka is answered."""
    brokers = kafka_addresses(view)
    for attempt in view.attempts:
        name = _NAMES.get(attempt.protocol)
        if name is None or not attempt.hung_up or not {attempt.broker, *attempt.also} & brokers:
            continue
        yield finding(
            ID,
            SEVERITY,
            attempt,
            f"{who(attempt)} speaks {name} to {attempt.broker}, which is a port of Kafka: hung up on "
            f"{times(attempt.hung_up)}",
            why="the broker reads the first bytes as the length of a message that is far too large",
            hint=f"find out what on {attempt.client_host} connects there (a health check, a wrong port), and give it "
            "the address that it means",
        )
