"""A quota slows down a client.

Why: A broker tells a client that exceeds its quota to wait (throttle_time_ms), and reads no requests from it meanwhile.
What looks like a slow network or broker is a configured limit.

Bad:
    request_counts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: import, api_key: 0, times: 400,  # <- here
         throttled: 120, throttle_ms: 54000, longest_throttle_ms: 1200, last: 60}

Good:
    request_counts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: import, api_key: 0, times: 400, last: 60}

Seen: produce-throttle-time-avg and fetch-throttle-time-avg above 0

Sources: KIP-13, KIP-124, KIP-219.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import finding, request, who
from netdiag.traffic.facts import WireView

ID = "wire-throttled"
SEVERITY = Severity.WARNING

# One short wait evens out a burst, as quotas should.
_LEAST = 5
_LEAST_MS = 1000


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client, broker and request that is throttled for more than a second in total."""
    for each in view.request_counts:
        if each.throttled < _LEAST or each.throttle_ms < _LEAST_MS:
            continue
        yield finding(
            ID,
            SEVERITY,
            each,
            f"{each.broker} throttles {who(each)} in {each.throttled} of {each.times} {request(each.api_key)} "
            f"responses, {each.throttle_ms / 1000:.1f} s in total, at most {each.longest_throttle_ms} ms at once",
            why="the client exceeds the quota of its user or client.id",
            hint="raise the quota (kafka-configs --entity-type clients or users), or make the client send less",
        )
