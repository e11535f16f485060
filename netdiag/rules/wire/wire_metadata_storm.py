"""A client requests metadata all the time.

Why: Clients request metadata when they start, after certain errors, and every few minutes. Several requests per second
come from a loop: a client that cannot reach its brokers, or a program that creates a new client for every message.

Bad:
    request_counts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: web, api_key: 3, times: 900,  # <- here
         busiest: 180, last: 60}

Good:
    request_counts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: web, api_key: 3, times: 9, busiest: 5, last: 60}

Seen: a high rate of Metadata requests on the brokers; Error while fetching metadata with correlation id

Sources: Kafka documentation: metadata.max.age.ms, retry.backoff.ms; KIP-580.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import during, finding, times, who
from netdiag.traffic.facts import RequestCounts, WireView

ID = "wire-metadata-storm"
SEVERITY = Severity.WARNING

_METADATA, _API_VERSIONS = 3, 18
# A client that starts may ask ten times a second for a second or two (retry.backoff.ms is 100 ms).
_LEAST = 100
_IN_TEN_SECONDS = 50


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and broker with more than five requests a second for ten seconds."""
    opened = {_key(each): each.times for each in view.request_counts if each.api_key == _API_VERSIONS}
    for each in view.request_counts:
        if each.api_key != _METADATA or each.times < _LEAST or each.busiest < _IN_TEN_SECONDS:
            continue
        connections = opened.get(_key(each), 0)
        fresh = connections * 2 > each.times
        yield finding(
            ID,
            SEVERITY,
            each,
            f"{who(each)} requests metadata from {each.broker} {times(each.times)} in {during(each.seconds)}, "
            f"{each.busiest} of them within ten seconds"
            + (f", on {connections} connections" if connections > 1 else ""),
            why="every new client requests metadata"
            if fresh
            else "a client that cannot continue requests metadata again",
            hint="use one producer or consumer for the whole life of the program"
            if fresh
            else "see the other findings about this client: an address that it cannot reach, or a topic that does not "
            "exist",
        )


def _key(calls: RequestCounts) -> tuple[str, str | None, str]:
    return (calls.client_host, calls.client_id, calls.broker)
