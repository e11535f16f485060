"""Brokers close a client's idle connections.

Why: A broker closes a connection that is idle for connections.max.idle.ms (10 minutes). A client with a longer limit
notices only when it next sends: it reconnects, and its first request is late. This is harmless, but explains
"disconnected" in its log.

Bad:
    idle_connections:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: nightly, ending: fin, used: false,  # <- here
         times: 4, idle_ms: 600010, longest_ms: 600900, last: 3000}

Good:
    idle_connections:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: nightly, ending: fin, used: false,
         times: 4, idle_ms: 540010, longest_ms: 540900, last: 3000}

Seen: Disconnecting from node 1 due to socket connection close; Broker transport failure; Disconnected (after 600000ms)

Sources: Kafka documentation: connections.max.idle.ms (10 min at brokers, 9 min at clients).
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import finding, times, who
from netdiag.traffic.facts import WireView

ID = "wire-idle-closed"
SEVERITY = Severity.NOTE

# The broker's default, and how much later it may close the connection.
_IDLE_MS = 600_000
_LATE_MS = 15_000
_LEAST = 2


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and broker that closes its idle connections after ten minutes."""
    for each in view.idle_connections:
        if each.used or each.times < _LEAST or not _IDLE_MS <= each.idle_ms <= each.longest_ms <= _IDLE_MS + _LATE_MS:
            continue
        yield finding(
            ID,
            SEVERITY,
            each,
            f"{each.broker} closes connections of {who(each)} after ten minutes without a request "
            f"({times(each.times)})",
            why="connections.max.idle.ms of the broker is 10 minutes by default",
            hint="set connections.max.idle.ms of the client below the broker's (librdkafka has no limit by default)",
        )
