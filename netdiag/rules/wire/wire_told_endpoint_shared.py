"""Several brokers have the same advertised address.

Why: Clients cannot tell brokers with the same host and port apart: the broker that answers there gets the requests for
all of them, and refuses those for partitions of the others.

Bad:
    advertised_endpoints:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 1, last: 9,  # <- here
         host: 10.0.0.2, port: 9092}
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 2, last: 9,
         host: 10.0.0.2, port: 9092}

Good:
    advertised_endpoints:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 1, last: 9,
         host: 10.0.0.2, port: 9092}
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 2, last: 9,
         host: 10.0.0.2, port: 9093}

Seen: NOT_LEADER_OR_FOLLOWER for half of the partitions, however often the client fetches the leaders

Sources: Kafka protocol guide, Metadata.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.rules.wire_findings import finding, place, who
from netdiag.traffic.facts import AdvertisedEndpoint, WireView

ID = "wire-told-endpoint-shared"
SEVERITY = Severity.ERROR


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and address that several brokers have at the same time."""
    shared: dict[tuple[object, ...], list[AdvertisedEndpoint]] = {}
    for told in view.advertised_endpoints:
        key = (
            told.client_host,
            told.client_id,
            told.broker,
            told.cluster_id,
            told.endpoint.lower(),
        )
        shared.setdefault(key, []).append(told)
    for group in shared.values():
        first = group[0]
        nodes = sorted({each.node_id for each in group if each.node_id >= 0 and _at_once(first, each)})
        if len(nodes) < 2:
            continue
        named = ", ".join(map(str, nodes[:-1])) + f" and {nodes[-1]}"
        yield finding(
            ID,
            SEVERITY,
            first,
            f'{who(first)} gets "{first.endpoint}" from {first.broker} as the address of brokers {named}',
            why="one broker gets the requests for all of them, and refuses those for partitions of the others",
            hint="advertise a different host and port for every broker",
            related=[Related(location=place(each), message=f"broker {each.node_id}") for each in group[1:]],
        )


def _at_once(one: AdvertisedEndpoint, other: AdvertisedEndpoint) -> bool:
    """Whether both were returned in the same period, so that neither has replaced the other."""
    return one.time <= other.last and other.time <= one.last
