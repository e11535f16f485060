"""A client uses Kafka without TLS on a port that requires TLS.

Why: The broker expects a TLS handshake, receives something else and closes the connection without an error that the
client understands. The client retries at once, forever.

Bad:
    attempts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9093", opening: complete, protocol: kafka, times: 8,  # <- here
         hung_up: 8, requests: 8, last: 30}
      - {client: "10.0.0.7:40999", broker: "10.0.0.2:9093", opening: complete, protocol: tls, times: 2, last: 60}

Good:
    attempts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", opening: complete, protocol: kafka, requests: 8,
         responses: 8, last: 30}
      - {client: "10.0.0.7:40999", broker: "10.0.0.2:9093", opening: complete, protocol: tls, times: 2, last: 60}

Seen: Connection to node -1 terminated during authentication; Failed authentication (Unrecognized SSL message)

Sources: RFC 8446, section 6.2 (alerts); KafkaChannel.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import finding, times, who
from netdiag.traffic.facts import Attempts, WireView

ID = "wire-plaintext-on-tls-port"
SEVERITY = Severity.ERROR

# If the capture shows no TLS on the port, only TLS alerts in response to every request are proof, and more than one.
_LEAST_ALERTS = 2


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client address and port that closes on plain Kafka and answers TLS."""
    for attempt in view.attempts:
        if attempt.protocol not in ("kafka", "unknown") or attempt.responses or attempt.lossy:
            continue
        failed = attempt.hung_up + attempt.alerts
        if failed < attempt.times or not (_speaks_tls(view, attempt) or attempt.alerts >= _LEAST_ALERTS):
            continue
        yield finding(
            ID,
            SEVERITY,
            attempt,
            f"{who(attempt)} uses Kafka without TLS on {attempt.broker}, which requires TLS and closes the connection "
            f"({times(failed)})",
            why="the broker expects a TLS handshake and gets a Kafka request",
            hint="set security.protocol=SSL (or SASL_SSL) in the client, or use the port of a PLAINTEXT listener",
        )


def _speaks_tls(view: WireView, attempt: Attempts) -> bool:
    """Whether another client gets a TLS response at the same address."""
    here = {attempt.broker, *attempt.also}
    return any(
        each.protocol == "tls" and each.times > each.hung_up + each.alerts and here & {each.broker, *each.also}
        for each in view.attempts
    )
