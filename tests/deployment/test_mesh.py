"""Which edges a cluster needs, what is predicted of them, and what an answer is worth."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Mechanism, Reason, Unknown
from netdiag.deployment.prediction.mesh import (
    Edge,
    EdgeKind,
    contact_between_members,
    edge_outcome,
    is_cut,
    mesh_edges,
)
from tests.deployment.stacks import deployment_of, five_brokers

_KRAFT = """\
services:
{nodes}
"""
_NODE = """\
  kafka-{n}:
    image: apache/kafka:3.9.1
    environment:
      KAFKA_NODE_ID: {n}
      KAFKA_PROCESS_ROLES: {roles}
      {quorum}
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: {listeners}
      KAFKA_ADVERTISED_LISTENERS: {advertised}
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:{protocol},CONTROLLER:PLAINTEXT
      CLUSTER_ID: MkU3OEVBNTcwNTJENDM2Qk
"""
VOTERS = "KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka-1:9093,2@kafka-2:9093"
SERVERS = "KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS: kafka-1:9093,kafka-2:9093"


def kraft(quorum: str, protocol: str = "PLAINTEXT") -> str:
    """Two combined nodes and a broker."""
    nodes = [
        _NODE.format(
            n=n,
            roles="broker,controller" if n < 3 else "broker",
            quorum=quorum,
            listeners="PLAINTEXT://:9092,CONTROLLER://:9093" if n < 3 else "PLAINTEXT://:9092",
            advertised=f"PLAINTEXT://kafka-{n}:9092",
            protocol=protocol,
        )
        for n in (1, 2, 3)
    ]
    return _KRAFT.format(nodes="".join(nodes))


def pairs(edges: tuple[Edge, ...], kind: EdgeKind) -> set[tuple[str, str, str]]:
    return {(e.source, e.target, str(e.address)) for e in edges if e.kind is kind}


def test_zookeeper_form() -> None:
    edges = mesh_edges(deployment_of(five_brokers()))
    names = [f"broker-{n}" for n in range(1, 6)]
    between = pairs(edges, EdgeKind.INTER_BROKER)
    assert between == {(a, b, f"{b}:29092") for a in names for b in names if a != b}
    assert pairs(edges, EdgeKind.ZOOKEEPER) == {(a, "zookeeper", "zookeeper:2181") for a in names}
    assert len(edges) == 25
    assert {edge_outcome(edge, edge.predicted) for edge in edges if edge.predicted} == {"ok"}
    assert {edge.node_id for edge in edges if edge.target == "broker-4"} == {4}


@pytest.mark.parametrize("quorum", [VOTERS, SERVERS])
def test_kraft_form(quorum: str) -> None:
    edges = mesh_edges(deployment_of(kraft(quorum)))
    assert len(pairs(edges, EdgeKind.INTER_BROKER)) == 6
    assert pairs(edges, EdgeKind.CONTROLLER) == {
        ("kafka-1", "kafka-2", "kafka-2:9093"),
        ("kafka-2", "kafka-1", "kafka-1:9093"),
        ("kafka-3", "kafka-1", "kafka-1:9093"),
        ("kafka-3", "kafka-2", "kafka-2:9093"),
    }
    assert not pairs(edges, EdgeKind.ZOOKEEPER)
    assert all(edge.predicted and edge_outcome(edge, edge.predicted) == "ok" for edge in edges)


def test_who_does_not_run_is_looked_for_and_does_not_look() -> None:
    edges = mesh_edges(deployment_of(five_brokers()).with_down({"broker-2", "zookeeper"}))
    assert "broker-2" not in {edge.source for edge in edges}
    towards = [edge for edge in edges if edge.target == "broker-2"]
    assert len(towards) == 4
    assert all(isinstance(edge.predicted, Failed) for edge in towards)
    assert {e.target for e in edges if e.kind is EdgeKind.ZOOKEEPER} == {"zookeeper"}
    assert {edge_outcome(e, e.predicted) for e in edges if e.kind is EdgeKind.ZOOKEEPER and e.predicted} == {
        "unresolved"
    }


def test_a_cut_is_predicted_where_the_files_show_it() -> None:
    text = five_brokers().replace("INTERNAL://broker-3:29092", "INTERNAL://localhost:29092")
    edges = mesh_edges(deployment_of(text))
    words = {(e.source, e.target): edge_outcome(e, e.predicted) for e in edges if e.predicted}
    assert words[("broker-1", "broker-3")] == "wrong-broker"
    assert words[("broker-3", "broker-1")] == "ok"


def test_a_secured_listener_is_reached() -> None:
    edges = mesh_edges(deployment_of(kraft(VOTERS, protocol="SSL")))
    between = [edge for edge in edges if edge.kind is EdgeKind.INTER_BROKER]
    assert between
    assert all(edge.predicted and edge_outcome(edge, edge.predicted) == "ok" for edge in between)


EDGE = Edge(kind=EdgeKind.INTER_BROKER, source="a", target="b", address=Address(host="b", port=9092), node_id=2)


@pytest.mark.parametrize(
    ("contact", "word", "cut"),
    [
        (None, None, None),
        (Unknown(because="no time"), "unknown", None),
        (Answered(node_id=2, cluster_id="c"), "ok", False),
        (Answered(node_id=None, cluster_id="c"), "ok", False),
        (Answered(node_id=1, cluster_id="c"), "wrong-broker", True),
        (Failed(reason=Reason.TIMEOUT, because=""), "timeout", True),
        (Failed(reason=Reason.SASL, because=""), "ok", False),
        (Failed(reason=Reason.NOT_KAFKA, because=""), "not-kafka", True),
    ],
)
def test_what_a_contact_is_worth(contact: Contact | None, word: str | None, cut: bool | None) -> None:
    assert is_cut(replace(EDGE, observed=contact)) is cut
    if contact is not None:
        assert edge_outcome(EDGE, contact) == word


def test_a_controller_serves_no_clients_and_that_is_well() -> None:
    quorum = Failed(reason=Reason.NOT_KAFKA, because="a controller's", mechanism=Mechanism.CONTROLLER_LISTENER)
    http = Failed(reason=Reason.NOT_KAFKA, because="it answers ApiVersions with HTTP")
    assert isinstance(contact_between_members(quorum, EdgeKind.CONTROLLER), Answered)
    assert contact_between_members(quorum, EdgeKind.INTER_BROKER) is quorum
    assert contact_between_members(http, EdgeKind.CONTROLLER) is http
