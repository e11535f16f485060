"""A client gets a broker address that does not answer.

Why: Packets to the address are lost: it is on a network that the client is not on, or a firewall drops them.
Connections hang until they time out, which looks like a slow cluster.

Bad:
    coverage: {last: 90}
    advertised_endpoints:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 1,  # <- here
         host: 172.18.0.2, port: 9092}
    attempts:
      - {client: "10.0.0.9:40313", broker: "172.18.0.2:9092", opening: unanswered, times: 3, time: 1, last: 80}

Good:
    coverage: {last: 90}
    advertised_endpoints:
      - {client: "172.18.0.9:40312", broker: "172.18.0.2:9092", client_id: orders, node_id: 1,
         host: 172.18.0.2, port: 9092}
    attempts:
      - {client: "172.18.0.9:40313", broker: "172.18.0.2:9092", opening: complete, protocol: kafka, responses: 8,
         time: 1, last: 80}

Seen: Connection setup timed out; Disconnected from node 1 due to timeout; Connect to ipv4#...: Operation timed out

Sources: RFC 9293, section 3.5; KIP-601 (socket.connection.setup.timeout.ms).
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.rules.wire_findings import during, finding, place, times, who
from netdiag.traffic.facts import Attempts, WireView
from netdiag.traffic.second_hop import is_loopback, second_hops

ID = "wire-told-endpoint-unanswered"
SEVERITY = Severity.ERROR

# A SYN is repeated after one second, then after two more: a single one may be the last packet of the capture.
_PATIENCE = 2.5


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and address that never answered."""
    for hop in second_hops(view):
        told = hop.advertised
        silent = [each for each in hop.opened("unanswered", "unreachable") if _is_proof(each)]
        if not silent or hop.answered or is_loopback(told.host):
            continue
        count, seconds = sum(each.times for each in silent), max(each.seconds for each in silent)
        unreachable = any(each.opening == "unreachable" for each in silent)
        how = "the network reports it as unreachable" if unreachable else "it does not answer"
        yield finding(
            ID,
            SEVERITY,
            told,
            f'{who(told)} gets "{told.endpoint}" from {told.broker} as the address of broker {told.node_id}, but {how} '
            f"(tried {times(count)} in {during(seconds)})",
            why="the client has no route to the address's network, or a firewall drops its packets",
            hint=f"advertise an address that {told.client_host} can reach, or let it through to {told.endpoint}",
            related=[Related(location=place(each), message=f"{each.broker}: {each.opening}") for each in silent],
        )


def _is_proof(attempt: Attempts) -> bool:
    """Whether somebody waited long enough, and nothing else shows that packets came back unseen."""
    patient = attempt.opening == "unreachable" or attempt.seconds >= _PATIENCE
    return patient and not attempt.requests and not attempt.responses
