"""A client gets a broker address that refuses connections.

Why: The address exists, but nothing listens on that port: it is not published, the broker uses another port, or the
broker is down.

Bad:
    coverage: {last: 60}
    advertised_endpoints:
      - {client: "10.0.0.9:40312", broker: "192.168.8.133:9092", client_id: orders, node_id: 2,  # <- here
         host: 192.168.8.133, port: 9094}
    attempts:
      - {client: "10.0.0.9:40313", broker: "192.168.8.133:9094", opening: refused, times: 12, time: 1, last: 58}

Good:
    coverage: {last: 60}
    advertised_endpoints:
      - {client: "10.0.0.9:40312", broker: "192.168.8.133:9092", client_id: orders, node_id: 2,
         host: 192.168.8.133, port: 9094}
    attempts:
      - {client: "10.0.0.9:40313", broker: "192.168.8.133:9094", opening: refused, times: 3, time: 1, last: 4}
      - {client: "10.0.0.9:40320", broker: "192.168.8.133:9094", opening: complete, protocol: kafka, responses: 5,
         time: 5, last: 60}

Seen: Connection to node 2 (/192.168.8.133:9094) could not be established; Connect to ipv4#...: Connection refused

Sources: RFC 9293, section 3.10.7.1 (reset to a SYN for a port that is closed).
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.rules.wire_findings import during, finding, place, times, who
from netdiag.traffic.facts import WireView
from netdiag.traffic.second_hop import is_loopback, second_hops

ID = "wire-told-endpoint-refused"
SEVERITY = Severity.ERROR

# One refusal may be a broker that restarts.
_LEAST = 2


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and address that refuses its connections to the end."""
    for hop in second_hops(view):
        told, refused = hop.advertised, hop.opened("refused")
        count = sum(each.times for each in refused)
        if count < _LEAST or is_loopback(told.host):
            continue
        end = max(each.last for each in refused)
        if any(each.last >= end for each in hop.opened("complete", "unseen", "half")):
            continue
        seconds = (end - min(each.time for each in refused)) / 1e9
        yield finding(
            ID,
            SEVERITY,
            told,
            f'{who(told)} gets "{told.endpoint}" from {told.broker} as the address of broker {told.node_id}, but its '
            f"connections there are refused ({times(count)} in {during(seconds)})",
            why="nothing listens on that port of that address",
            hint=f"publish or open port {told.port} there, or advertise the port that broker {told.node_id} has; "
            "check whether that broker is running",
            related=[
                Related(location=place(each), message=f"{each.broker} refused {times(each.times)}") for each in refused
            ],
        )
