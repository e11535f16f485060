"""wurstmeister/kafka: environment to settings; the facts are start-kafka.sh's of wurstmeister/kafka-docker."""

import pytest

from netdiag.kafka.images.families import parse_image
from netdiag.kafka.images.settings import ImageSettings, Launch
from netdiag.kafka.images.wurstmeister import settings

ZOO = {"KAFKA_ZOOKEEPER_CONNECT": "zoo:2181"}
SOCKET = ("/var/run/docker.sock",)


def made(environment: dict[str, str | None], tag: str = "2.13-2.8.1", launch: Launch | None = None) -> ImageSettings:
    return settings(environment, parse_image(f"wurstmeister/kafka:{tag}"), launch or Launch())


@pytest.mark.parametrize(
    ("environment", "name", "value"),
    [
        ({"KAFKA_LISTENERS": "A://:1"}, "listeners", "A://:1"),
        ({}, "listeners", "PLAINTEXT://:9092"),
        ({"KAFKA_PORT": "9094"}, "listeners", "PLAINTEXT://:9094"),
        ({"KAFKA_ADVERTISED_HOST_NAME": "localhost"}, "advertised.listeners", "PLAINTEXT://localhost:9092"),
        (
            {"KAFKA_ADVERTISED_HOST_NAME": "h", "KAFKA_ADVERTISED_PORT": "9094"},
            "advertised.listeners",
            "PLAINTEXT://h:9094",
        ),
        ({"KAFKA_ADVERTISED_HOST_NAME": "h", "KAFKA_PORT": "9094"}, "advertised.listeners", "PLAINTEXT://h:9094"),
        ({"HOSTNAME_COMMAND": "hostname"}, "advertised.listeners", None),
        (
            {"HOSTNAME_COMMAND": "hostname", "KAFKA_ADVERTISED_LISTENERS": "A://_{HOSTNAME_COMMAND}:1"},
            "advertised.listeners",
            None,
        ),
        (
            {"KAFKA_ADVERTISED_LISTENERS": "A://_{HOSTNAME_COMMAND}:1"},
            "advertised.listeners",
            "A://_{HOSTNAME_COMMAND}:1",
        ),
        ({}, "broker.id", "-1"),
        ({"BROKER_ID_COMMAND": "hostname"}, "broker.id", None),
        ({"CUSTOM_INIT_SCRIPT": "sed ..."}, "listeners", None),
    ],
)
def test_setting(environment: dict[str, str | None], name: str, value: str | None) -> None:
    assert made(environment).settings[name].value == value


def test_topics_and_options_are_no_properties() -> None:
    assert (
        not {"create.topics", "heap.opts"}
        & made({"KAFKA_CREATE_TOPICS": "a:1:1", "KAFKA_HEAP_OPTS": "-Xmx1g"}).settings.keys()
    )


@pytest.mark.parametrize(
    ("launch", "value"),
    [
        (Launch(mounts=SOCKET, published={9092: 19092}), "PLAINTEXT://h:19092"),
        (Launch(mounts=SOCKET, published={9092: None}), None),
        (Launch(mounts=SOCKET), None),
        (Launch(published={9092: 19092}), "PLAINTEXT://h:9092"),
        (Launch(mounts=None, published={9092: 9092}), "PLAINTEXT://h:9092"),
        (Launch(mounts=None, published={9092: 19092}), None),
    ],
)
def test_with_the_engines_socket_the_published_port_is_advertised(launch: Launch, value: str | None) -> None:
    settings_made = made({"KAFKA_ADVERTISED_HOST_NAME": "h"}, launch=launch).settings
    assert settings_made["advertised.listeners"].value == value


@pytest.mark.parametrize(
    ("environment", "tag", "variable"),
    [
        ({}, "2.13-2.8.1", "KAFKA_ZOOKEEPER_CONNECT"),
        ({}, "latest", "KAFKA_ZOOKEEPER_CONNECT"),
        ({**ZOO, "KAFKA_ADVERTISED_LISTENERS": "A://h:1"}, "2.13-2.8.1", "KAFKA_LISTENERS"),
        (ZOO, "2.12-2.5.0", "KAFKA_LISTENERS"),
        ({**ZOO, "HOSTNAME_COMMAND": "hostname"}, "2.13-2.8.1", None),
        ({**ZOO, "KAFKA_LISTENERS": "A://:1"}, "2.13-2.8.1", None),
        ({**ZOO, "KAFKA_ADVERTISED_HOST_NAME": None}, "2.13-2.8.1", None),
        # an older script
        ({}, "0.10.2.1", None),
    ],
)
def test_refusal(environment: dict[str, str | None], tag: str, variable: str | None) -> None:
    refusal = made(environment, tag).refusal
    assert (refusal.variable if refusal else None) == variable
