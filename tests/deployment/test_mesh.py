"""Edges as values."""

from netdiag.deployment.model.contact import Address
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh


def test_an_edge_that_nobody_looked_at_says_nothing() -> None:
    edge = Edge(kind=EdgeKind.ZOOKEEPER, source="b1", target="", address=Address(host="zk", port=2181))
    assert (edge.predicted, edge.observed) == (None, None)
    assert Mesh(edges=(edge,)).skipped == ()
