"""What images make of their variables: every family, Apache and Confluent, and images that are not known."""

import pytest

from netdiag.kafka.images import apache, confluent, unknown
from netdiag.kafka.images.apache import DEFAULT_CLUSTER_ID
from netdiag.kafka.images.families import cluster_id, image_settings, parse_image
from netdiag.kafka.images.reference import KafkaVersion
from netdiag.kafka.images.settings import Launch, property_name, settings_from


@pytest.mark.parametrize(
    ("image", "environment", "expected"),
    [
        ("apache/kafka", {}, DEFAULT_CLUSTER_ID),
        ("apache/kafka", {"CLUSTER_ID": None}, None),
        ("apache/kafka", {"CLUSTER_ID": "x"}, "x"),
        ("confluentinc/cp-kafka", {}, None),
        ("confluentinc/confluent-local", {}, "4L6g3nShT-eMCtK--X86sw"),
        ("bitnami/kafka", {"KAFKA_KRAFT_CLUSTER_ID": "x"}, "x"),
        ("bitnami/kafka", {"CLUSTER_ID": "x"}, None),
        ("debezium/kafka:1.9", {}, None),
        ("debezium/kafka:3.7", {}, "ldlg5yhkQeWtnUrZrC6edg"),
    ],
)
def test_cluster_id(image: str, environment: dict[str, str | None], expected: str | None) -> None:
    assert cluster_id(parse_image(image), environment) == expected


@pytest.mark.parametrize(
    ("image", "listeners"),
    [
        (
            "confluentinc/confluent-local:7.9.0",
            "PLAINTEXT://localhost:29092,CONTROLLER://localhost:29093,PLAINTEXT_HOST://0.0.0.0:9092",
        ),
        ("lensesio/fast-data-dev", "PLAINTEXT://:9092"),
        ("wurstmeister/kafka", "PLAINTEXT://:9092"),
    ],
)
def test_defaults_by_family(image: str, listeners: str) -> None:
    assert image_settings(parse_image(image), {}, Launch()).settings["listeners"].value == listeners


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("KAFKA_ADVERTISED_LISTENERS", "advertised.listeners"),
        (
            "KAFKA_LISTENER_NAME_PLAINTEXT__HOST_SASL_ENABLED_MECHANISMS",
            "listener.name.plaintext_host.sasl.enabled.mechanisms",
        ),
        ("KAFKA_A___B", "a-b"),
        ("KAFKA_CFG_LISTENERS", "cfg.listeners"),
    ],
)
def test_property_name(variable: str, name: str) -> None:
    assert property_name(variable, "KAFKA_") == name


def test_other_prefixes_and_excluded_names_are_left_out() -> None:
    made = settings_from({"KAFKA_A": "1", "B": "2", "KAFKA_C": "3"}, prefix="KAFKA_", excluded=frozenset({"KAFKA_C"}))
    assert {name: setting.variable for name, setting in made.items()} == {"a": "KAFKA_A"}


def test_controller_with_advertised_listeners_is_refused() -> None:
    made = apache.settings({"KAFKA_PROCESS_ROLES": "controller", "KAFKA_ADVERTISED_LISTENERS": "CONTROLLER://c:9093"})
    assert made.refusal is not None
    assert made.refusal.prints == "KAFKA_ADVERTISED_LISTENERS is not supported on a KRaft controller."


def test_nothing_is_derived_for_a_controller() -> None:
    made = apache.settings({"KAFKA_PROCESS_ROLES": "controller", "KAFKA_NODE_ID": "1"})
    assert "listeners" not in made.settings
    assert made.refusal is None


_OK: dict[str, str | None] = {
    "KAFKA_ZOOKEEPER_CONNECT": "z:2181",
    "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092",
}


@pytest.mark.parametrize(
    ("extra", "prints"),
    [
        ({}, None),
        (
            {"KAFKA_ADVERTISED_PORT": "1"},
            "advertised.port is deprecated. Please use KAFKA_ADVERTISED_LISTENERS instead.",
        ),
        ({"KAFKA_PORT": "1"}, "port is deprecated. Please use KAFKA_ADVERTISED_LISTENERS instead."),
        ({"KAFKA_ADVERTISED_HOST_NAME": "x"}, None),
        ({"KAFKA_ZOOKEEPER_CONNECT": ""}, "KAFKA_ZOOKEEPER_CONNECT is required."),
    ],
)
def test_refusal(extra: dict[str, str | None], prints: str | None) -> None:
    refusal = confluent.settings(_OK | extra, KafkaVersion(3, 9)).refusal
    assert (refusal.prints if refusal else None) == prints


LISTS: dict[str, str | None] = {
    "KAFKA_LISTENERS": "A://:9092,C://:9094",
    "KAFKA_ADVERTISED_LISTENERS": "A://kafka:9092",
}
VOTER: dict[str, str | None] = {"KAFKA_NODE_ID": "1", "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@kafka:9094,2@other:9094"}


@pytest.mark.parametrize(
    ("environment", "variable"),
    [
        (LISTS, "KAFKA_ADVERTISED_LISTENERS"),
        ({"KAFKA_LISTENERS": "A://:9092"}, None),
        ({"KAFKA_LISTENERS": "A://:9092", "KAFKA_NODE_ID": "1"}, "KAFKA_LISTENERS"),
        ({**LISTS, "KAFKA_LISTENERS": None}, "KAFKA_ADVERTISED_LISTENERS"),
        ({"KAFKA_LISTENERS": "events", "KAFKA_ADVERTISED_LISTENERS": "no"}, None),
        ({"KAFKA_CFG_ADVERTISED_LISTENERS": "A://kafka:9092"}, "KAFKA_CFG_ADVERTISED_LISTENERS"),
        ({"KAFKA_ADVERTISED_HOST_NAME": "kafka"}, "KAFKA_ADVERTISED_HOST_NAME"),
        ({"ADVERTISED_HOST": "10.0.0.1", "ADVERTISED_PORT": "9092"}, "ADVERTISED_HOST"),
        ({"ADVERTISED_HOST": ""}, None),
    ],
)
def test_the_variable_that_tells_a_broker(environment: dict[str, str | None], variable: str | None) -> None:
    assert unknown.telling_variable(environment) == variable


@pytest.mark.parametrize(
    ("environment", "advertised"),
    [
        ({"KAFKA_CFG_ADVERTISED_LISTENERS": "A://kafka:9092", "KAFKA_HEAP_OPTS": "-Xmx1G"}, "A://kafka:9092"),
        ({"KAFKA_ADVERTISED_HOST_NAME": "kafka", "KAFKA_ADVERTISED_PORT": "29092"}, "PLAINTEXT://kafka:29092"),
        ({"ADVERTISED_HOST": "10.0.0.1"}, "PLAINTEXT://10.0.0.1:9092"),
    ],
)
def test_what_unknown_images_advertise(environment: dict[str, str | None], advertised: str) -> None:
    made = unknown.settings(environment).settings
    assert made["advertised.listeners"].value == advertised
    assert made["listeners"].value is None


def test_a_voter_is_a_controller_and_advertises_as_a_broker() -> None:
    made = unknown.settings({**LISTS, **VOTER}).settings
    assert (made["process.roles"].value, made["controller.listener.names"].value) == ("broker,controller", "C")


def test_nothing_else_is_taken_for_granted() -> None:
    made = unknown.settings(LISTS).settings
    assert made["process.roles"].value is None
    assert made["listener.security.protocol.map"].value is None
    assert unknown.settings({"KAFKA_LISTENERS": "A://:9092"}).settings == {}
