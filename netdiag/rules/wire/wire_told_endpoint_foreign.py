"""A client is told an address of a broker where another cluster answers.

Why: two clusters share a name or a port of the host. The client takes one for the other: it writes to topics of the
wrong cluster, or is told over and over that the leader is elsewhere.

Bad:
    coverage: {last: 60}
    told:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 1,  # <- here
         cluster_id: cluster-A, host: 10.0.0.3, port: 9092}
    attempts:
      - {client: "10.0.0.9:40313", broker: "10.0.0.3:9092", opening: complete, protocol: kafka, responses: 9, last: 60}
    clusters:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", cluster_id: cluster-A}
      - {client: "10.0.0.9:40313", broker: "10.0.0.3:9092", cluster_id: cluster-B, time: 2, last: 3}

Good:
    coverage: {last: 60}
    told:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, node_id: 1,
         cluster_id: cluster-A, host: 10.0.0.3, port: 9092}
    attempts:
      - {client: "10.0.0.9:40313", broker: "10.0.0.3:9092", opening: complete, protocol: kafka, responses: 9, last: 60}
    clusters:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", cluster_id: cluster-A}
      - {client: "10.0.0.9:40313", broker: "10.0.0.3:9092", cluster_id: cluster-A, time: 2, last: 3}

Seen: The metadata for topic orders is from another cluster; cluster id changes in the log of the client

Sources: KIP-78 (cluster id); KIP-430.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.rules.wire_findings import finding, place, who
from netdiag.traffic.facts import Cluster, WireView
from netdiag.traffic.fates import Fate, fates

ID = "wire-told-endpoint-foreign"
SEVERITY = Severity.ERROR


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and told address where a broker of another cluster answered."""
    for fate in fates(view):
        told = fate.told
        if told.cluster_id is None:
            continue
        other = _answers(view, fate)
        # An address that also answers as the right cluster was given to another one, before or after.
        if not other or any(each.cluster_id == told.cluster_id for each in other):
            continue
        yield finding(
            ID,
            SEVERITY,
            told,
            f"{who(told)} is told by {told.broker} of cluster {told.cluster_id} that broker {told.node_id} is at "
            f"{told.endpoint}, where cluster {other[0].cluster_id} answers",
            why="two clusters share this address, or a name leads to the wrong one",
            hint=f"give broker {told.node_id} an address of its own, and look where {told.host} leads from "
            f"{told.client_host}",
            related=[Related(location=place(other[0]), message=f"cluster {other[0].cluster_id} answers")],
        )


def _answers(view: WireView, fate: Fate) -> list[Cluster]:
    """What the brokers at the told address said of their cluster after that."""
    reached = {address for each in fate.attempts if each.responses for address in (each.broker, *each.also)}
    return [each for each in view.clusters if each.broker in reached and each.last >= fate.told.time]
