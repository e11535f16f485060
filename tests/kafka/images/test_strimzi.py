"""Brokers that a command starts with overrides, as `kafka.Kafka.getPropsFromArgs` reads them."""

import pytest

from netdiag.kafka.images.families import parse_image
from netdiag.kafka.images.settings import Launch
from netdiag.kafka.images.strimzi import settings

ZOOKEEPER = "bin/kafka-server-start.sh config/server.properties"
KRAFT = "bin/kafka-server-start.sh ./config/kraft/server.properties"


@pytest.mark.parametrize(
    ("image", "command", "name", "value"),
    [
        ("strimzi/kafka:0.20.0-kafka-2.6.0", f"{ZOOKEEPER} --override listeners=A://:1", "listeners", "A://:1"),
        ("strimzi/kafka:0.20.0-kafka-2.6.0", f"{ZOOKEEPER} --override listeners=${{LISTS}}", "listeners", "B://:2"),
        ("strimzi/kafka:0.20.0-kafka-2.6.0", f"{ZOOKEEPER} --override listeners=$ELSEWHERE", "listeners", None),
        ("strimzi/kafka:0.20.0-kafka-2.6.0", f"{ZOOKEEPER} --override a=x$LISTS", "a", "xB://:2"),
        ("strimzi/kafka:0.20.0-kafka-2.6.0", ZOOKEEPER, "zookeeper.connect", "localhost:2181"),
        ("quay.io/strimzi/kafka:latest-kafka-3.2.1", KRAFT, "process.roles", "broker,controller"),
        ("quay.io/strimzi/kafka:0.47.0-kafka-4.0.0", ZOOKEEPER, "process.roles", "broker,controller"),
        ("quay.io/strimzi/kafka:latest", ZOOKEEPER, "process.roles", None),
        ("quay.io/strimzi/kafka:latest-kafka-3.2.1", "kafka-server-start.sh /mine.properties", "listeners", None),
    ],
)
def test_setting(image: str, command: str, name: str, value: str | None) -> None:
    launch = Launch(command=("sh", "-c", f"exec {command} ; true"))
    assert settings({"LISTS": "B://:2"}, parse_image(image), launch).settings[name].value == value


def test_a_variable_behind_an_override_is_named() -> None:
    launch = Launch(command=(f"{KRAFT} --override listeners=$${{LISTS}}".replace("$$", "$"),))
    made = settings({"LISTS": "B://:2"}, parse_image("strimzi/kafka:latest-kafka-3.2.1"), launch)
    assert made.settings["listeners"].variable == "LISTS"
