"""Edges of the rules about listener names, the protocol map and which node is told what."""

import pytest

from netdiag.findings import Severity
from tests.rules.test_edges import cp
from tests.rules.test_edges_core import kraft, node, prints, repaired, serious

ODD = {"listener-name-odd": Severity.ERROR}
UNMAPPED = {"listener-name-unmapped": Severity.ERROR}
DROPPED = {"protocol-map-drops-defaults": Severity.ERROR}
MAP = {"KAFKA_INTER_BROKER_LISTENER_NAME": "A", "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "A:PLAINTEXT,B:PLAINTEXT"}


def zookeeper(**environment: str) -> str:
    return cp("\n".join(f"{name}: '{value}'" for name, value in environment.items()))


@pytest.mark.parametrize(
    ("listeners", "expected", "prints_name"),
    [
        ("A://:1;B://:2", ODD, "A://:1;B"),
        ("A://:1 ; B://:2", ODD, "A://:1 ; B"),
        ("A://:1 B://:2", ODD, "A://:1 B"),
        ("A ://:1,B://:2", ODD, "A "),
        ("A://http://:1,B://:2", ODD, "A://HTTP"),
        # an odd name that is unknown as well is told once
        ("C ://:1,A://:2,B://:3", ODD, "C "),
        # not odd, but unknown
        ("A://:1,B://:2,C://:3", UNMAPPED, "C"),
        # these are fine: blanks around the comma, lower case
        ("A://:1 , b://:2", {}, None),
    ],
)
def test_what_ends_up_in_a_name(listeners: str, expected: dict[str, Severity], prints_name: str | None) -> None:
    text = zookeeper(KAFKA_LISTENERS=listeners, KAFKA_ADVERTISED_LISTENERS="A://kafka:1,B://kafka:2", **MAP)
    assert serious(text) == expected
    assert prints(text) == ({f"No security protocol defined for listener {prints_name}"} if prints_name else set())


@pytest.mark.parametrize("listeners", ["A://:1;B://:2", "A://:1 B://:2", "A ://:1,B://:2", "A://http://:1,B://:2"])
def test_the_repair_leaves_nothing_odd(listeners: str) -> None:
    text = zookeeper(KAFKA_LISTENERS=listeners, KAFKA_ADVERTISED_LISTENERS="A://kafka:1,B://kafka:2", **MAP)
    assert serious(repaired(text)) == {}
    assert "A://:1,B://:2" in repaired(text)


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        (None, {}),
        ("PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT", {}),
        ("PLAINTEXT:PLAINTEXT", DROPPED),
        ("CONTROLLER:PLAINTEXT", DROPPED),
        ("OTHER:PLAINTEXT", DROPPED),
        ("", DROPPED),
    ],
)
def test_a_map_that_is_set_takes_every_default_away(mapping: str | None, expected: dict[str, Severity]) -> None:
    text = kraft(node(KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=mapping))
    assert serious(text) == expected
    if mapping:
        assert serious(repaired(text)) == {}


def test_a_name_that_never_had_a_protocol_is_not_dropped() -> None:
    text = kraft(
        node(
            KAFKA_LISTENERS="X://:9092,CONTROLLER://:9093",
            KAFKA_ADVERTISED_LISTENERS="X://kafka:9092",
            KAFKA_INTER_BROKER_LISTENER_NAME="X",
            KAFKA_LISTENER_SECURITY_PROTOCOL_MAP="CONTROLLER:PLAINTEXT",
        )
    )
    assert serious(text) == UNMAPPED


@pytest.mark.parametrize(
    ("image", "changes", "expected"),
    [
        ("apache/kafka:3.9.1", {}, {"control-plane-misuse": Severity.ERROR}),
        # forgotten: it has no effect
        ("apache/kafka:4.0.0", {}, {}),
        ("apache/kafka", {}, {}),
    ],
)
def test_a_control_plane_in_kraft(image: str, changes: dict[str, str], expected: dict[str, Severity]) -> None:
    assert serious(kraft(node(image=image, KAFKA_CONTROL_PLANE_LISTENER_NAME="CONTROLLER", **changes))) == expected


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("B", None),
        ("b", None),
        ("A", "when defined, should have a different value"),
        ("C", "not found in"),
        ("D", "must be a listener name defined in advertised.listeners."),
    ],
)
def test_a_control_plane_with_zookeeper(name: str, says: str | None) -> None:
    text = zookeeper(
        KAFKA_LISTENERS="A://:1,B://:2,D://:3",
        KAFKA_ADVERTISED_LISTENERS="A://kafka:1,B://kafka:2",
        KAFKA_INTER_BROKER_LISTENER_NAME="A",
        KAFKA_LISTENER_SECURITY_PROTOCOL_MAP="A:PLAINTEXT,B:PLAINTEXT,D:PLAINTEXT",
        KAFKA_CONTROL_PLANE_LISTENER_NAME=name,
    )
    assert serious(text) == ({"control-plane-misuse": Severity.ERROR} if says else {})
    assert all(says is not None and told is not None and says in told for told in prints(text))


def test_a_controller_may_name_its_own_listener_for_brokers_up_to_3_9() -> None:
    def only(image: str) -> str:
        return node(
            image=image,
            KAFKA_PROCESS_ROLES="controller",
            KAFKA_LISTENERS="CONTROLLER://:9093",
            KAFKA_ADVERTISED_LISTENERS=None,
            KAFKA_INTER_BROKER_LISTENER_NAME="CONTROLLER",
        )

    assert serious(kraft(only("apache/kafka:3.9.1"))) == {}
    assert serious(kraft(only("apache/kafka:4.0.0"))) == {"kraft-inter-broker-is-controller": Severity.ERROR}


def of(number: int, voters: str, **changes: str) -> str:
    return node(
        name=f"kafka-{number}",
        KAFKA_NODE_ID=str(number),
        KAFKA_ADVERTISED_LISTENERS=f"PLAINTEXT://kafka-{number}:9092",
        KAFKA_CONTROLLER_QUORUM_VOTERS=voters,
        **changes,
    )


ALL = "1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093"
WARNED = {"kraft-voters-inconsistent": Severity.WARNING}
ONLY_BROKER = {
    "KAFKA_PROCESS_ROLES": "broker",
    "KAFKA_LISTENERS": "PLAINTEXT://:9092",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
}


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ((of(1, ALL), of(2, ALL), of(3, ALL)), {}),
        # whether these get along is chance
        ((of(1, ALL), of(2, ALL), of(3, "3@kafka-3:9093")), WARNED),
        ((of(1, ALL), of(2, ALL), of(3, "1@kafka-1:9093,3@kafka-3:9093")), WARNED),
        ((of(1, "1@kafka-1:9093,2@kafka-2:9093"), of(2, "2@kafka-2:9093")), WARNED),
        # two clusters, each of one node
        ((of(1, "1@kafka-1:9093"), of(2, "2@kafka-2:9093")), {}),
        # who is only a broker may get along with a part of the list, or not
        (
            (of(1, ALL), of(2, ALL), of(3, ALL), of(4, "1@kafka-1:9093", **ONLY_BROKER)),
            WARNED,
        ),
        ((of(1, ALL), of(2, ALL), of(3, ALL), of(4, ALL, **ONLY_BROKER)), {}),
    ],
)
def test_voters_are_the_same_everywhere(nodes: tuple[str, ...], expected: dict[str, Severity]) -> None:
    assert serious(kraft(*nodes)) == expected


@pytest.mark.parametrize(
    ("image", "advertised", "expected"),
    [
        ("apache/kafka:3.9.1", "kafka-1:9093", {}),
        ("apache/kafka:3.9.1", "localhost:9093", {"kraft-advertised-controller-differs": Severity.WARNING}),
        ("apache/kafka:4.0.0", "kafka-1:9094", {"kraft-advertised-controller-differs": Severity.WARNING}),
        # another name may be one of the same container
        ("apache/kafka:3.9.1", "kafka-1.example:9093", {}),
        # refused before it could differ
        ("apache/kafka:3.8.1", "localhost:9093", {"kraft-controller-advertised": Severity.ERROR}),
    ],
)
def test_what_a_controller_advertises(image: str, advertised: str, expected: dict[str, Severity]) -> None:
    voters = "1@kafka-1:9093,2@kafka-2:9093"
    first = node(
        image=image,
        name="kafka-1",
        KAFKA_ADVERTISED_LISTENERS=f"PLAINTEXT://kafka-1:9092,CONTROLLER://{advertised}",
        KAFKA_CONTROLLER_QUORUM_VOTERS=voters,
    )
    assert serious(kraft(first, of(2, voters))) == expected
