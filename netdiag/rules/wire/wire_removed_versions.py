"""A client uses request versions that Kafka 4 no longer supports.

Why: Kafka 4.0 removed the request versions from before Kafka 2.1. A client that sends them works with older brokers,
but Kafka 4.0 and later refuse it.

Bad:
    request_counts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: legacy, api_key: 0, lowest: 2,  # <- here
         highest: 2, times: 90, last: 60}

Good:
    request_counts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: legacy, api_key: 0, lowest: 3,
         highest: 9, times: 90, last: 60}

Seen: UNSUPPORTED_VERSION; UnsupportedVersionException; the broker closes the connection

Sources: KIP-896; the message schemas of Kafka 3.9 and 4.0.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.kafka.protocol.table import UnknownMessage, release_versions
from netdiag.rules.wire_findings import finding, request, several, who
from netdiag.traffic.facts import RequestCounts, WireView

ID = "wire-removed-versions"
SEVERITY = Severity.NOTE

_OLD, _NEW = "3.9.1", "4.0.0"


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client with requests in versions that Kafka 4 removed."""
    found: dict[tuple[object, ...], list[RequestCounts]] = {}
    for each in view.request_counts:
        if each.lowest is not None and _is_removed(each.api_key, each.lowest):
            found.setdefault((each.client_host, each.client_id), []).append(each)
    for old in found.values():
        first = min(old, key=lambda each: each.time)
        sent = dict.fromkeys(f"{request(each.api_key)} v{each.lowest}" for each in old)
        yield finding(
            ID,
            SEVERITY,
            first,
            f"{who(first)} sends {several(sent)}, which Kafka 4 no longer supports",
            why="Kafka 4.0 removed the request versions from before Kafka 2.1",
            hint="upgrade the client's library before the brokers",
        )


def _is_removed(api_key: int, version: int) -> bool:
    """Whether a version exists in 3.9 and is older than those of 4.0."""
    try:
        releases = release_versions(api_key)
    except UnknownMessage:
        return False
    old, new = releases.get(_OLD), releases.get(_NEW)
    return bool(old and new) and version in (old or ()) and version < (new or range(0)).start
