"""A client uses TLS on a port that does not use TLS.

Why: The broker reads the first bytes of TLS as the length of a message, finds it too large and closes the connection.
The client sees a failed handshake.

Bad:
    attempts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", opening: complete, protocol: tls, times: 8,  # <- here
         hung_up: 8, last: 30}
      - {client: "10.0.0.7:40999", broker: "10.0.0.2:9092", opening: complete, protocol: kafka, requests: 5,
         responses: 5, last: 60}

Good:
    attempts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9093", opening: complete, protocol: tls, last: 30}
      - {client: "10.0.0.7:40999", broker: "10.0.0.2:9092", opening: complete, protocol: kafka, requests: 5,
         responses: 5, last: 60}

Seen: SSL handshake failed; InvalidReceiveException: Invalid receive (size = 369295616 larger than 104857600)

Sources: RFC 8446, section 5.1 (0x16 0x03 0x01 read as a length is 369295616 and more); socket.request.max.bytes.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import finding, times, who
from netdiag.traffic.facts import WireView
from netdiag.traffic.second_hop import kafka_addresses

ID = "wire-tls-on-plaintext-port"
SEVERITY = Severity.ERROR


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client address and port that closes on TLS and answers plain Kafka."""
    plain = kafka_addresses(view)
    for attempt in view.attempts:
        here = {attempt.broker, *attempt.also}
        if attempt.protocol != "tls" or not attempt.hung_up or not here & plain:
            continue
        name = f" (server name {attempt.server_name})" if attempt.server_name else ""
        yield finding(
            ID,
            SEVERITY,
            attempt,
            f"{who(attempt)} uses TLS on {attempt.broker}{name}, which uses Kafka without TLS and closes the "
            f"connection "
            f"({times(attempt.hung_up)})",
            why="the broker reads the first bytes of TLS as the length of a message that is far too large",
            hint="set security.protocol=PLAINTEXT (or SASL_PLAINTEXT) in the client, or use the port of an SSL "
            "listener",
        )
