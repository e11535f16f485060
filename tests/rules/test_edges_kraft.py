"""Edges of the rules about KRaft: quorums, isolated roles, what each release takes."""

import pytest

from netdiag.findings import Severity
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of
from tests.rules.test_edges import found
from tests.rules.test_edges_core import KRAFT, kraft, node, prints, repaired, serious


@pytest.mark.parametrize(
    ("voters", "sentence"),
    [
        ("kafka:9093", "Each entry should be in the form `{id}@{host}:{port}`."),
        ("x@kafka:9093", "Failed to parse voter ID as an integer from x"),
        ("1@kafka", "Failed to parse host name from entry 1@kafka"),
        ("2@kafka-2:9093", "the node id 1 must be included in the set of voters controller.quorum.voters="),
        (None, "controller.quorum.voters must contain a parseable set of"),
        ("", "controller.quorum.voters must contain a parseable set of"),
    ],
)
def test_voters_that_end_a_controller(voters: str | None, sentence: str) -> None:
    text = kraft(node(KAFKA_CONTROLLER_QUORUM_VOTERS=voters))
    assert serious(text) == {"kraft-voters-invalid": Severity.ERROR}
    assert prints(text) == {sentence}


def test_a_broker_is_no_voter() -> None:
    controller = node(
        name="controller",
        KAFKA_PROCESS_ROLES="controller",
        KAFKA_LISTENERS="CONTROLLER://:9093",
        KAFKA_ADVERTISED_LISTENERS=None,
        KAFKA_CONTROLLER_QUORUM_VOTERS="1@controller:9093,2@kafka:9093",
    )
    broker = node(
        KAFKA_NODE_ID="2",
        KAFKA_PROCESS_ROLES="broker",
        KAFKA_LISTENERS="PLAINTEXT://:9092",
        KAFKA_CONTROLLER_QUORUM_VOTERS="1@controller:9093,2@kafka:9093",
    )
    text = kraft(controller, broker)
    assert serious(text) == {"kraft-voters-invalid": Severity.ERROR}
    assert prints(text) == {"the node id 2 must not be included in the set of voters controller.quorum.voters="}


@pytest.mark.parametrize(
    ("image", "changes", "expected"),
    [
        ("apache/kafka:3.9.1", {}, {"kraft-dynamic-quorum-unformattable": Severity.ERROR}),
        ("confluentinc/cp-kafka:7.9.2", {"CLUSTER_ID": "x"}, {"kraft-dynamic-quorum-unformattable": Severity.ERROR}),
        ("apache/kafka:4.1.0", {}, {"kraft-dynamic-quorum-unformattable": Severity.WARNING}),
        ("apache/kafka", {}, {"kraft-dynamic-quorum-unformattable": Severity.WARNING}),
        # the setting is unknown to it, and the voters are missing
        ("apache/kafka:3.8.1", {}, {"kraft-voters-invalid": Severity.ERROR}),
        # who is only a broker formats for whatever quorum there is
        (
            "apache/kafka:3.9.1",
            {
                "KAFKA_PROCESS_ROLES": "broker",
                "KAFKA_LISTENERS": "PLAINTEXT://:9092",
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            },
            {},
        ),
    ],
)
def test_a_dynamic_quorum_needs_no_voters_but_an_image_that_formats_it(
    image: str, changes: dict[str, str], expected: dict[str, Severity]
) -> None:
    dynamic = node(
        image=image,
        KAFKA_CONTROLLER_QUORUM_VOTERS=None,
        KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS="kafka:9093",
        **changes,
    )
    assert serious(kraft(dynamic)) == expected


@pytest.mark.parametrize(
    ("image", "host", "expected"),
    [
        # the only node of a cluster finds itself
        ("apache/kafka:3.9.1", "localhost", {}),
        ("apache/kafka:3.9.1", "0.0.0.0", {"kraft-voters-loopback": Severity.ERROR}),
        ("apache/kafka:3.7.0", "0.0.0.0", {}),
    ],
)
def test_a_single_node_may_look_for_itself(image: str, host: str, expected: dict[str, Severity]) -> None:
    assert serious(kraft(node(image=image, KAFKA_CONTROLLER_QUORUM_VOTERS=f"1@{host}:9093"))) == expected


def test_localhost_is_one_place_for_nodes_in_the_namespace_of_the_host() -> None:
    def on_host(n: int) -> str:
        return node(
            name=f"kafka-{n}",
            extra="    network_mode: host\n",
            KAFKA_NODE_ID=str(n),
            KAFKA_LISTENERS=f"PLAINTEXT://:{9090 + n},CONTROLLER://:{9190 + n}",
            KAFKA_ADVERTISED_LISTENERS=f"PLAINTEXT://localhost:{9090 + n}",
            KAFKA_CONTROLLER_QUORUM_VOTERS="1@localhost:9191,2@localhost:9192",
        )

    assert serious(kraft(on_host(1), on_host(2))) == {}


@pytest.mark.parametrize(
    ("voters", "because"),
    [
        ("1@kafka:9092", "the controller listener of kafka is on port 9093"),
        ("1@localhost:29093", "the controller listener of kafka is on port 9093"),
        ("1@kafak:9093", 'no container has the name "kafak"'),
    ],
)
def test_voters_lead_to_their_controller(voters: str, because: str) -> None:
    (finding,) = check_deployment(deployment_of(kraft(node(KAFKA_CONTROLLER_QUORUM_VOTERS=voters))))
    assert finding.rule == "kraft-voter-endpoint-mismatch"
    assert because in finding.message


def test_swapped_voters_are_told_once_each() -> None:
    def swapped(n: int) -> str:
        return node(
            name=f"kafka-{n}",
            KAFKA_NODE_ID=str(n),
            KAFKA_ADVERTISED_LISTENERS=f"PLAINTEXT://kafka-{n}:9092",
            KAFKA_CONTROLLER_QUORUM_VOTERS="1@kafka-2:9093,2@kafka-1:9093",
        )

    messages = [f.message for f in check_deployment(deployment_of(kraft(swapped(1), swapped(2)))) if "voter" in f.rule]
    assert len(messages) == 2
    assert "kafka-2 is node 2" in messages[0]


def test_voters_elsewhere_are_not_judged() -> None:
    voters = "1@kafka:9093,2@kafka-2.example.org:9093,3@kafka-3:9093"
    assert serious(kraft(node(KAFKA_CONTROLLER_QUORUM_VOTERS=voters))) == {}


def isolated(**changes: str | None) -> str:
    controller = node(
        name="controller",
        KAFKA_PROCESS_ROLES="controller",
        KAFKA_LISTENERS="CONTROLLER://:9093",
        KAFKA_ADVERTISED_LISTENERS=None,
        KAFKA_CONTROLLER_QUORUM_VOTERS="1@controller:9093",
    )
    own: dict[str, str | None] = {
        "KAFKA_NODE_ID": "2",
        "KAFKA_PROCESS_ROLES": "broker",
        "KAFKA_LISTENERS": "PLAINTEXT://:9092",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@controller:9093",
    }
    lines = "".join(f"      {k}: '{v}'\n" for k, v in (KRAFT | own | changes).items() if v is not None)
    return kraft(controller, f"  kafka:\n    image: apache/kafka:3.9.1\n    environment:\n{lines}")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {}),
        ({"KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"}, {}),
        (
            {"KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT"},
            {"kraft-controller-unmapped": Severity.ERROR},
        ),
        ({"KAFKA_CONTROLLER_LISTENER_NAMES": None}, {"kraft-controller-unmapped": Severity.ERROR}),
        (
            {"KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093"},
            {"kraft-controller-listener-wrong-role": Severity.ERROR},
        ),
        ({"CLUSTER_ID": "MkU3OEVBNTcwNTJENDM2Qg"}, {"cluster-id-inconsistent": Severity.ERROR}),
    ],
)
def test_a_broker_beside_its_controller(changes: dict[str, str | None], expected: dict[str, Severity]) -> None:
    assert serious(isolated(**changes)) == expected


def test_the_map_is_completed_in_its_place() -> None:
    wrong = isolated(KAFKA_LISTENER_SECURITY_PROTOCOL_MAP="PLAINTEXT:PLAINTEXT")
    assert repaired(wrong) == isolated(KAFKA_LISTENER_SECURITY_PROTOCOL_MAP="PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT")


@pytest.mark.parametrize(
    ("image", "severity"),
    [
        ("apache/kafka:3.7.2", Severity.ERROR),
        ("apache/kafka:3.8.1", Severity.ERROR),
        ("apache/kafka:3.9.1", Severity.NOTE),
        ("apache/kafka:latest", Severity.NOTE),
    ],
)
@pytest.mark.parametrize("order", ["PLAINTEXT://kafka:9092, {}", "{},PLAINTEXT://kafka:9092"])
def test_advertised_controllers_by_release(image: str, severity: Severity, order: str) -> None:
    text = kraft(node(image=image, KAFKA_ADVERTISED_LISTENERS=order.format("CONTROLLER://kafka:9093")))
    assert found(text) == {"kraft-controller-advertised": severity}
    if severity is Severity.ERROR:
        assert repaired(text) == kraft(node(image=image))


@pytest.mark.parametrize(
    ("image", "rule"),
    [("apache/kafka:3.8.1", "kraft-controller-advertised"), ("apache/kafka:3.9.1", "kraft-no-broker-advertised")],
)
def test_nothing_but_a_controller_is_advertised(image: str, rule: str) -> None:
    text = kraft(node(image=image, KAFKA_ADVERTISED_LISTENERS="CONTROLLER://kafka:9093"))
    assert serious(text) == {rule: Severity.ERROR}


def test_two_clusters_of_one_node_each_may_both_be_node_1() -> None:
    own = "1@localhost:9093"
    one = node(name="a", KAFKA_ADVERTISED_LISTENERS="PLAINTEXT://a:9092", KAFKA_CONTROLLER_QUORUM_VOTERS=own)
    two = node(name="b", KAFKA_ADVERTISED_LISTENERS="PLAINTEXT://b:9092", KAFKA_CONTROLLER_QUORUM_VOTERS=own)
    assert serious(kraft(one, two)) == {}


@pytest.mark.parametrize(
    ("ids", "clash"), [(("1", "1"), True), (("1", "2"), False), (("-1", "-1"), False), (("1", None), False)]
)
def test_ids_of_brokers_with_zookeeper(ids: tuple[str | None, str | None], clash: bool) -> None:
    brokers = "".join(
        f"  kafka-{n}:\n    image: confluentinc/cp-kafka:7.9.2\n    environment:\n"
        + (f"      KAFKA_BROKER_ID: {number}\n" if number else "")
        + f"      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181\n      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-{n}:9092\n"
        for n, number in enumerate(ids)
    )
    assert serious(kraft(brokers)) == ({"duplicate-node-id": Severity.ERROR} if clash else {})


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("CONTROLLER", {}),
        ("CONTROLLER,OTHER", {"kraft-controller-listener-missing": Severity.ERROR}),
        ("controller", {"kraft-controller-listener-missing": Severity.ERROR}),
    ],
)
def test_every_controller_name_is_bound_as_it_is_written(names: str, expected: dict[str, Severity]) -> None:
    mapped = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"
    text = kraft(node(KAFKA_CONTROLLER_LISTENER_NAMES=names, KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=mapped))
    assert serious(text) == expected
