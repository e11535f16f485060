"""A client gets a broker name that it cannot resolve.

Why: The first connection works because its address does; all others go to the names in the metadata response. A name
that only the broker's network resolves is an unknown host for the client.

Bad:
    coverage: {last: 60}
    advertised_endpoints:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 1,  # <- here
         host: broker-1, port: 29092, leads: [orders]}
    name_lookups:
      - {client: "10.0.0.9:53111", name: broker-1, result: NXDOMAIN, times: 4}
      - {client: "10.0.0.9:53111", name: broker-1.example.net, result: NXDOMAIN, times: 4}

Good:
    coverage: {last: 60}
    advertised_endpoints:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 1,
         host: broker-1, port: 29092, leads: [orders]}
    name_lookups:
      - {client: "10.0.0.9:53111", name: broker-1.example.net, result: NXDOMAIN}
      - {client: "10.0.0.9:53111", name: broker-1, result: NOERROR, addresses: [10.0.0.2]}
    attempts:
      - {client: "10.0.0.9:40313", broker: "10.0.0.2:29092", opening: complete, protocol: kafka, responses: 9, last: 60}

Seen: java.net.UnknownHostException: broker-1; Failed to resolve 'broker-1:29092': Name or service not known

Sources: RFC 1035 (rcode 3); KIP-602.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.rules.wire_findings import finding, place, times, who
from netdiag.traffic.facts import WireView
from netdiag.traffic.second_hop import is_loopback, second_hops

ID = "wire-told-endpoint-unresolved"
SEVERITY = Severity.ERROR


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and returned name that did not resolve."""
    for hop in second_hops(view):
        told, failed = hop.advertised, hop.unresolved
        # A client that is answered on that port elsewhere has the address from another source (/etc/hosts).
        if not failed or is_loopback(told.host) or any(each.responses for each in hop.same_port):
            continue
        count = sum(each.times for each in failed)
        results = " and ".join(sorted({each.result for each in failed}))
        yield finding(
            ID,
            SEVERITY,
            told,
            f'{who(told)} gets "{told.endpoint}" from {told.broker} as the address of broker {told.node_id}, but '
            f"cannot "
            f"resolve {told.host} ({results}, asked {times(count)})",
            why="clients connect to the advertised names, not to the address that they bootstrap from",
            hint=f"advertise a name that {told.client_host} can resolve, on a listener for clients outside the "
            f"broker's "
            "network",
            related=[
                Related(location=place(each), message=f"{each.name}: {each.result}, {times(each.times)}")
                for each in failed[:3]
            ],
        )
