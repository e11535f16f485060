"""What a broker really runs with, for the images and modes that netdiag knows."""

import pytest

from netdiag.kafka.broker_config import BrokerConfig, Mode, broker_config
from netdiag.kafka.images.families import parse_image
from netdiag.kafka.images.settings import KRAFT_PROPERTIES, ZOOKEEPER_PROPERTIES, Provenance
from netdiag.kafka.property_names import PROPERTY_NAMES


def config(image: str, **environment: str | None) -> BrokerConfig:
    return broker_config(parse_image(image), environment)


def test_apache_without_variables_runs_its_bundled_file() -> None:
    made = config("apache/kafka:3.9.1")
    assert made.mode is Mode.KRAFT
    assert [str(e.endpoint) for e in made.listeners] == ["PLAINTEXT://:9092", "CONTROLLER://:9093"]
    assert [str(e.endpoint) for e in made.advertised_listeners] == ["PLAINTEXT://localhost:9092"]
    assert made.settings["listeners"].provenance is Provenance.IMAGE_DEFAULT
    assert made.node_id == 1


def test_apache_with_one_variable_loses_the_bundled_file() -> None:
    made = config("apache/kafka:3.9.1", KAFKA_ADVERTISED_LISTENERS="PLAINTEXT://kafka:9092")
    assert made.mode is Mode.UNDECIDED
    assert made.value("process.roles") is None


def test_apache_heap_setting_is_no_property() -> None:
    assert config("apache/kafka:3.9.1", KAFKA_HEAP_OPTS="-Xmx1g").mode is Mode.KRAFT


@pytest.mark.parametrize("image", ["apache/kafka:3.9.1", "confluentinc/cp-kafka:7.9.2"])
def test_listeners_are_derived_from_advertised(image: str) -> None:
    made = config(
        image,
        KAFKA_PROCESS_ROLES="broker",
        CLUSTER_ID="x",
        KAFKA_ADVERTISED_LISTENERS="INTERNAL://kafka:29092,EXTERNAL://localhost:9092",
    )
    assert made.value("listeners") == "INTERNAL://0.0.0.0:29092,EXTERNAL://0.0.0.0:9092"
    assert made.settings["listeners"].provenance is Provenance.DERIVED


@pytest.mark.parametrize(
    ("image", "environment", "variable"),
    [
        ("confluentinc/cp-kafka:7.9.2", {}, "KAFKA_ZOOKEEPER_CONNECT"),
        ("confluentinc/cp-kafka:7.9.2", {"KAFKA_ZOOKEEPER_CONNECT": "z:2181"}, "KAFKA_ADVERTISED_LISTENERS"),
        ("confluentinc/cp-kafka:7.9.2", {"KAFKA_PROCESS_ROLES": "broker"}, "CLUSTER_ID"),
        ("confluentinc/cp-kafka:8.0.0", {"KAFKA_ZOOKEEPER_CONNECT": "z:2181"}, "KAFKA_PROCESS_ROLES"),
    ],
)
def test_confluent_insists_on_its_variables(image: str, environment: dict[str, str | None], variable: str) -> None:
    refusal = broker_config(parse_image(image), environment).refusal
    assert refusal is not None
    assert refusal.missing
    assert refusal.variable == variable


def test_isolated_controller_must_not_advertise() -> None:
    made = config("confluentinc/cp-kafka:7.9.2", KAFKA_PROCESS_ROLES="controller", CLUSTER_ID="x")
    assert made.refusal is None
    made = config(
        "confluentinc/cp-kafka:7.9.2",
        KAFKA_PROCESS_ROLES="controller",
        CLUSTER_ID="x",
        KAFKA_ADVERTISED_LISTENERS="CONTROLLER://c:9093",
    )
    assert made.refusal is not None
    assert not made.refusal.missing


def test_setting_the_map_drops_its_defaults() -> None:
    assert config("apache/kafka:3.9.1", KAFKA_PROCESS_ROLES="broker").protocol_map["PLAINTEXT"] == "PLAINTEXT"
    made = config("apache/kafka:3.9.1", KAFKA_LISTENER_SECURITY_PROTOCOL_MAP="A:SSL")
    assert made.protocol_map == {"A": "SSL"}


def test_controller_names_map_to_plaintext_while_no_map_is_given() -> None:
    made = config(
        "apache/kafka:3.9.1",
        KAFKA_PROCESS_ROLES="broker,controller",
        KAFKA_CONTROLLER_LISTENER_NAMES="CONTROLLER",
        KAFKA_LISTENERS="PLAINTEXT://:9092,CONTROLLER://:9093",
    )
    assert made.protocol_map["CONTROLLER"] == "PLAINTEXT"
    assert [e.endpoint.listener for e in made.broker_listeners] == ["PLAINTEXT"]
    assert [e.endpoint.listener for e in made.advertised_listeners] == ["PLAINTEXT"]


def test_inter_broker_listener_defaults_to_plaintext() -> None:
    assert config("apache/kafka:3.9.1", KAFKA_NODE_ID="1").inter_broker_listener == "PLAINTEXT"
    assert config("apache/kafka:3.9.1", KAFKA_INTER_BROKER_LISTENER_NAME="internal").inter_broker_listener == "INTERNAL"


def test_voters_are_taken_apart() -> None:
    made = config("apache/kafka:3.9.1", KAFKA_CONTROLLER_QUORUM_VOTERS="1@kafka-1:9093, 2@[::1]:9093,x@y")
    assert made.voters == ((1, "kafka-1", 9093), (2, "::1", 9093))


def test_a_value_from_the_shell_is_unknown() -> None:
    made = config("apache/kafka:3.9.1", KAFKA_LISTENERS=None, KAFKA_NODE_ID="1")
    assert made.is_unknown("listeners")
    assert made.listener_entries == ()


@pytest.mark.parametrize(
    "name", [*KRAFT_PROPERTIES, *ZOOKEEPER_PROPERTIES, "controller.quorum.bootstrap.servers", "host.name"]
)
def test_known(name: str) -> None:
    assert name in PROPERTY_NAMES


def test_names_are_names() -> None:
    assert all(name == name.lower() and " " not in name for name in PROPERTY_NAMES - {"zookeeper.clientCnxnSocket"})


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        (" 7 ", 7),
        ("-1", -1),
        ("+1", 1),
        ("007", 7),
        ("--1", None),
        ("-", None),
        ("²", None),
        ("1_0", None),
        ("", None),
        ("9" * 5000, None),
    ],
)
@pytest.mark.parametrize("variable", ["KAFKA_NODE_ID", "KAFKA_BROKER_ID"])
def test_a_node_id_is_what_java_takes_for_a_number(variable: str, text: str, number: int | None) -> None:
    made = config("apache/kafka:3.9.1", KAFKA_PROCESS_ROLES="broker", **{variable: text})
    assert made.node_id == number
