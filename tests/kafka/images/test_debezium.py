"""debezium/kafka: environment to settings; the facts are docker-entrypoint.sh's of kafka/1.9, 3.0 and 3.7."""

import pytest

from netdiag.kafka.images.debezium import settings
from netdiag.kafka.images.families import parse_image

CLUSTER = {"CLUSTER_ID": "x"}


@pytest.mark.parametrize(
    ("tag", "environment", "name", "value"),
    [
        ("1.9", {"ZOOKEEPER_CONNECT": "zoo:2181"}, "zookeeper.connect", "zoo:2181"),
        ("1.9", {"KAFKA_ZOOKEEPER_CONNECT": "zoo:2181"}, "zookeeper.connect", "0.0.0.0:2181"),
        ("1.9", {"ZOO_PORT_2181_TCP": "tcp://10.0.0.2:2181"}, "zookeeper.connect", None),
        ("1.9", {}, "node.id", "1"),
        ("1.9", {"BROKER_ID": "3"}, "broker.id", "3"),
        ("1.9", {}, "listeners", "PLAINTEXT://:9092"),
        ("1.9", {}, "advertised.listeners", None),
        ("1.9", {"ADVERTISED_HOST_NAME": "h"}, "advertised.listeners", "PLAINTEXT://h:9092"),
        ("1.9", {"HOST_NAME": "h", "ADVERTISED_PORT": "1"}, "advertised.listeners", "PLAINTEXT://h:1"),
        ("1.9", {"KAFKA_ADVERTISED_LISTENERS": "A://h:1"}, "advertised.listeners", "A://h:1"),
        ("3.0", CLUSTER, "process.roles", "broker,controller"),
        ("3.0", CLUSTER, "listeners", "PLAINTEXT://:9092,CONTROLLER://:9093"),
        ("3.7", {}, "process.roles", "broker,controller"),
        ("latest", {"NODE_ROLE": "broker"}, "process.roles", "broker"),
        ("latest", {"KAFKA_CONTROLLER_QUORUM_VOTERS": "1@k:9093"}, "controller.quorum.voters", "1@k:9093"),
    ],
)
def test_setting(tag: str, environment: dict[str, str | None], name: str, value: str | None) -> None:
    assert settings(environment, parse_image(f"quay.io/debezium/kafka:{tag}")).settings[name].value == value


def test_names_that_the_script_uses_up_are_no_properties() -> None:
    made = settings({"KAFKA_ADVERTISED_HOST_NAME": "h"}, parse_image("debezium/kafka:1.9")).settings
    assert "advertised.host.name" not in made
    assert made["advertised.listeners"].value == "PLAINTEXT://h:9092"
