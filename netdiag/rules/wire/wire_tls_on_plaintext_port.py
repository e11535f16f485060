"""A client speaks TLS to a port where the broker does not.

Why: the broker takes the first bytes of TLS for the length of a message, finds it too large and hangs up. The client
sees a handshake that fails.

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
from netdiag.traffic.fates import kafka_addresses

ID = "wire-tls-on-plaintext-port"
SEVERITY = Severity.ERROR


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client address and port where TLS is hung up on and plain Kafka is answered."""
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
            f"{who(attempt)} speaks TLS to {attempt.broker}{name}, where the broker speaks Kafka without TLS: hung up "
            f"on {times(attempt.hung_up)}",
            why="the broker reads the first bytes of TLS as the length of a message that is far too large",
            hint="set security.protocol=PLAINTEXT (or SASL_PLAINTEXT) in the client, or use the port of an SSL "
            "listener",
        )
