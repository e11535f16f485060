"""What a broker would answer: its cluster, and whether it has heard of it."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.vantage import broker_vantage
from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Mechanism, Reason, Unknown
from netdiag.deployment.prediction.cluster import advertised_host, cluster_of, is_informed, named_brokers, reaches
from netdiag.deployment.prediction.mesh import (
    Edge,
    EdgeKind,
    contact_between_members,
    edge_outcome,
    is_cut,
    mesh_edges,
)
from netdiag.engine.testcontainers import Library
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of, five_brokers

QUORUM = """\
services:
  one: &broker
    image: apache/kafka:4.3.1
    networks: {default: {aliases: [kafka]}}
    environment: &settings
      CLUSTER_ID: 4L6g3nShT-eMCtK--X86sw
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9094
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9094
  two: {<<: *broker}
  three:
    <<: *broker
    networks: [default]
    environment: {<<: *settings, KAFKA_NODE_ID: 2, KAFKA_PROCESS_ROLES: broker, KAFKA_LISTENERS: "PLAINTEXT://:9092"}
"""


@pytest.mark.parametrize(
    ("alias", "clusters", "rules"),
    [
        ("one", [["one", "three"], ["two"], ["one", "three"]], {"duplicate-node-id"}),
        ("kafka", [["one"], ["two"], ["three"]], set()),
    ],
)
def test_brokers_that_tests_started_are_one_cluster_where_the_quorum_is_one(
    alias: str, clusters: list[list[str]], rules: set[str]
) -> None:
    """Two that are called alike are a quorum each; one that has forgotten to change its id is told."""
    declared = deployment_of(QUORUM.replace("1@kafka", f"1@{alias}"))
    started = [replace(one, member=replace(one.member, started_by=Library.PYTHON)) for one in declared.brokers]
    deployment = replace(declared, brokers=tuple(started))
    assert [[each.name for each in cluster_of(deployment, one)] for one in deployment.brokers] == clusters
    assert {finding.rule for finding in check_deployment(deployment)} & {"duplicate-node-id"} == rules
    assert {finding.rule for finding in check_deployment(declared)} & {"duplicate-node-id"} == {"duplicate-node-id"}


def test_one_zookeeper_is_one_cluster() -> None:
    deployment = deployment_of(
        five_brokers().replace(
            "BROKER_ID: 5\n      KAFKA_ZOOKEEPER_CONNECT: zookeeper",
            "BROKER_ID: 5\n      KAFKA_ZOOKEEPER_CONNECT: other",
        )
    )
    assert [b.name for b in cluster_of(deployment, deployment.brokers[0])] == [f"broker-{n}" for n in range(1, 5)]
    assert [b.name for b in cluster_of(deployment, deployment.brokers[4])] == ["broker-5"]


def test_metadata_names_the_endpoints_of_one_listener() -> None:
    deployment = deployment_of(five_brokers())
    named = named_brokers(deployment.with_down({"broker-2"}), deployment.brokers[0], "EXTERNAL")
    assert not isinstance(named, Unknown)
    assert [(e.node_id, e.host, e.port) for e in named] == [(n, "localhost", 9090 + n) for n in (1, 3, 4, 5)]


def test_an_empty_advertised_host_is_decided_at_run_time_unless_hostname_is_set() -> None:
    text = five_brokers(host="")
    deployment = deployment_of(text)
    broker = deployment.brokers[0]
    entry = broker.config.advertised_listeners[1]
    assert advertised_host(broker, entry) is None
    assert isinstance(named_brokers(deployment, broker, "EXTERNAL"), Unknown)
    named = deployment_of(text.replace("  broker-1:\n", "  broker-1:\n    hostname: one\n")).brokers[0]
    assert advertised_host(named, entry) == "one"


def test_brokers_reach_each_other_or_not() -> None:
    deployment = deployment_of(five_brokers())
    one, two = deployment.brokers[:2]
    assert reaches(deployment, one, "broker-2", 29092) is two
    assert reaches(deployment, one, "broker-2", 1) is None
    # Who has the name is not known, so whether it is reached is neither.
    assert isinstance(reaches(deployment, one, "nobody", 29092), Unknown)
    assert broker_vantage(one).member == "broker-1"


def test_some_controllers_reach_a_broker_others_do_not() -> None:
    text = five_brokers().replace("INTERNAL://broker-3:29092", "INTERNAL://localhost:29092")
    deployment = deployment_of(text)
    # every broker finds itself at localhost, so which one is told depends on who the controller is
    assert isinstance(is_informed(deployment, deployment.brokers[2]), Unknown)
    assert is_informed(deployment, deployment.brokers[0]) is True


def test_who_stays_of_zookeeper_brokers_with_one_endpoint_is_decided_at_run_time() -> None:
    text = five_brokers().replace("EXTERNAL://localhost:9093", "EXTERNAL://localhost:9092")
    deployment = deployment_of(text)
    assert isinstance(is_informed(deployment, deployment.brokers[0]), Unknown)
    # once one of the two is gone, nobody is in doubt
    assert is_informed(deployment.with_down({"broker-3"}), deployment.brokers[0]) is True


KRAFT = """\
name: k
services:
  kafka:
    image: apache/kafka:3.9.1
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: {voters}
"""


def test_a_kraft_broker_needs_a_majority_of_its_voters() -> None:
    alone = deployment_of(KRAFT.format(voters="1@kafka:9093"))
    assert is_informed(alone, alone.brokers[0]) is True
    lost = deployment_of(KRAFT.format(voters="1@kafka:9093,2@gone:9093,3@lost:9093"))
    assert isinstance(is_informed(lost, lost.brokers[0]), Unknown)


def test_a_dynamic_quorum_has_voters_that_no_file_names() -> None:
    text = (
        "services: {kafka: {image: 'apache/kafka:4.0.0', environment: {KAFKA_NODE_ID: 1, KAFKA_PROCESS_ROLES: broker,"
        " KAFKA_CONTROLLER_LISTENER_NAMES: C, KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://kafka:9092', ENTRY}}}\n"
    )

    def said(entry: str) -> str:
        deployment = deployment_of(text.replace("ENTRY", entry))
        informed = is_informed(deployment, deployment.brokers[0])
        assert isinstance(informed, Unknown)
        return informed.because

    assert said("KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS: 'c:1'") == (
        "netdiag does not know the voters of the quorum of kafka"
    )
    assert said("KAFKA_LOG_DIRS: /x") == "kafka does not list its quorum as voters"


def test_an_address_that_nobody_knows_leaves_open_whether_a_broker_is_informed() -> None:
    deployment = deployment_of(five_brokers().replace("INTERNAL://broker-3:29092", "INTERNAL://192.168.7.7:29092"))
    told = is_informed(deployment, deployment.brokers[2])
    assert isinstance(told, Unknown)
    assert "192.168.7.7" in told.because


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
