"""A client gets a broker address at which another cluster answers.

Why: Two clusters share a host name or a port of the docker host. The client confuses them: it writes to topics of the
wrong cluster, or gets the error that the leader is elsewhere again and again.

Bad:
    coverage: {last: 60}
    advertised_endpoints:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 1,  # <- here
         cluster_id: cluster-A, host: 10.0.0.3, port: 9092}
    attempts:
      - {client: "10.0.0.9:40313", broker: "10.0.0.3:9092", opening: complete, protocol: kafka, responses: 9, last: 60}
    clusters:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", cluster_id: cluster-A}
      - {client: "10.0.0.9:40313", broker: "10.0.0.3:9092", cluster_id: cluster-B, time: 2, last: 3}

Good:
    coverage: {last: 60}
    advertised_endpoints:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 1,
         cluster_id: cluster-A, host: 10.0.0.3, port: 9092}
    attempts:
      - {client: "10.0.0.9:40313", broker: "10.0.0.3:9092", opening: complete, protocol: kafka, responses: 9, last: 60}
    clusters:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", cluster_id: cluster-A}
      - {client: "10.0.0.9:40313", broker: "10.0.0.3:9092", cluster_id: cluster-A, time: 2, last: 3}

Seen: The metadata for topic orders is from another cluster; the cluster ID changes in the client's log

Sources: KIP-78 (cluster id); KIP-430.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.rules.wire_findings import finding, place, who
from netdiag.traffic.facts import Cluster, WireView
from netdiag.traffic.second_hop import SecondHop, second_hops

ID = "wire-told-endpoint-foreign"
SEVERITY = Severity.ERROR


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and address at which a broker of another cluster answered."""
    for hop in second_hops(view):
        told = hop.advertised
        if told.cluster_id is None:
            continue
        other = _answers(view, hop)
        # An address that also answers as the right cluster changed its owner, before or after.
        if not other or any(each.cluster_id == told.cluster_id for each in other):
            continue
        yield finding(
            ID,
            SEVERITY,
            told,
            f'{who(told)} gets "{told.endpoint}" from {told.broker} of cluster {told.cluster_id} as the address of '
            f"broker "
            f"{told.node_id}, but cluster {other[0].cluster_id} answers there",
            why="two clusters share this address, or the name resolves to the wrong one",
            hint=f"give broker {told.node_id} its own address, and check what {told.host} resolves to on "
            f"{told.client_host}",
            related=[Related(location=place(other[0]), message=f"cluster {other[0].cluster_id} answers")],
        )


def _answers(view: WireView, hop: SecondHop) -> list[Cluster]:
    """What the brokers at that address returned as their cluster afterwards."""
    reached = {address for each in hop.attempts if each.responses for address in (each.broker, *each.also)}
    return [each for each in view.clusters if each.broker in reached and each.last >= hop.advertised.time]
