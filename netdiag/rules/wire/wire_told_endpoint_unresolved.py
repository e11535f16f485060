"""A client is told a name for a broker that its name service does not know.

Why: the first connection works because its address does; every further one goes to the names in the answer. A name
that only the broker's network knows gives the client an unknown host, again and again.

Bad:
    coverage: {last: 60}
    told:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 1,  # <- here
         host: broker-1, port: 29092, leads: [orders]}
    asked:
      - {client: "10.0.0.9:53111", name: broker-1, result: NXDOMAIN, times: 4}
      - {client: "10.0.0.9:53111", name: broker-1.example.net, result: NXDOMAIN, times: 4}

Good:
    coverage: {last: 60}
    told:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 1,
         host: broker-1, port: 29092, leads: [orders]}
    asked:
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
from netdiag.traffic.fates import fates, is_loopback

ID = "wire-told-endpoint-unresolved"
SEVERITY = Severity.ERROR


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and told name that did not resolve."""
    for fate in fates(view):
        told, failed = fate.told, fate.unresolved
        # Who is answered on that port elsewhere knows the address from somewhere else (/etc/hosts).
        if not failed or is_loopback(told.host) or any(each.responses for each in fate.same_port):
            continue
        count = sum(each.times for each in failed)
        results = " and ".join(sorted({each.result for each in failed}))
        yield finding(
            ID,
            SEVERITY,
            told,
            f"{who(told)} is told by {told.broker} that broker {told.node_id} is at {told.endpoint}, and its name "
            f"service does not know {told.host} ({results}, asked {times(count)})",
            why="clients go to the advertised names, not to the address that they began with",
            hint=f"advertise a name that {told.client_host} can resolve, on a listener for clients outside of the "
            "broker's network",
            related=[
                Related(location=place(each), message=f"{each.name}: {each.result}, {times(each.times)}")
                for each in failed[:3]
            ],
        )
