"""A connection is dead when a client uses it after a pause.

Why: NAT, a load balancer or a firewall between client and broker drops the state of idle connections and tells neither
end. The next request is reset or never answered, and is late by a timeout.

Bad:
    idle_connections:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: nightly, ending: reset-by-broker,  # <- here
         used: true, times: 3, idle_ms: 351000, longest_ms: 420000, last: 3000}

Good:
    idle_connections:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: nightly, ending: reset-by-broker,
         used: true, times: 1, idle_ms: 351000, longest_ms: 351000, last: 3000}

Seen: Connection reset by peer; Request timed out after idle; NETWORK_EXCEPTION

Sources: RFC 5382, section 5 (NAT and idle TCP); Kafka documentation: connections.max.idle.ms.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import during, finding, times, who
from netdiag.traffic.facts import IdleConnections, WireView

ID = "wire-idle-dead"
SEVERITY = Severity.WARNING

# A broker that restarts loses an idle connection once.
_LEAST = 2


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and broker with several connections that died silently."""
    found: dict[tuple[object, ...], list[IdleConnections]] = {}
    for each in view.idle_connections:
        if each.used:
            found.setdefault((each.client_host, each.client_id, each.broker), []).append(each)
    for dead in found.values():
        count, first = sum(each.times for each in dead), dead[0]
        if count < _LEAST:
            continue
        shortest = min(each.idle_ms for each in dead)
        resets = any(each.ending == "reset-by-broker" for each in dead)
        yield finding(
            ID,
            SEVERITY,
            first,
            f"connections of {who(first)} to {first.broker} are dead after a pause of "
            f"{during(shortest / 1000)} or more ({times(count)}, the next request "
            + ("is reset)" if resets else "gets no response)"),
            why="NAT, a load balancer or a firewall on the path drops idle connections",
            hint=f"set connections.max.idle.ms of the client below {during(shortest / 1000)}, or enable TCP "
            "keep-alives (socket.keepalive.enable of librdkafka)",
        )
