"""bitnami/kafka: environment to settings, generation by generation.

The facts are those of kafka-env.sh and libkafka.sh of bitnami/containers: 2 and 3.1 (ZOOKEEPER), 3.5 before revision 4
(KRAFT), 3.3 from revision 176, 3.7 and 4.0 (EXPLICIT).
"""

import pytest

from netdiag.kafka.images.bitnami import Generation, generation, settings
from netdiag.kafka.images.families import parse_image
from netdiag.kafka.images.settings import ImageSettings
from tests.each import each

PLAIN = {"ALLOW_PLAINTEXT_LISTENER": "yes"}
KRAFT = {"KAFKA_CFG_PROCESS_ROLES": "broker,controller"}


def made(tag: str, environment: dict[str, str | None]) -> ImageSettings:
    return settings(environment, parse_image(f"bitnami/kafka:{tag}"))


@pytest.mark.parametrize(
    ("tag", "environment", "name", "value"),
    [
        ("2.8", PLAIN, "listeners", "PLAINTEXT://:9092"),
        ("2.8", PLAIN, "advertised.listeners", "PLAINTEXT://:9092"),
        ("2.8", PLAIN, "zookeeper.connect", "localhost:2181"),
        ("2.8", {"KAFKA_CFG_LISTENERS": "", **PLAIN}, "listeners", "PLAINTEXT://:9092"),
        ("2.8", {"KAFKA_CFG_ZOOKEEPER_CONNECT": "zoo:2181"}, "zookeeper.connect", "zoo:2181"),
        # an alias beats the name with CFG_
        ("2.8", {"KAFKA_CFG_BROKER_ID": "1", "KAFKA_BROKER_ID": "2"}, "broker.id", "2"),
        (
            "2.8",
            {"KAFKA_CFG_LISTENER_SECURITY_PROTOCOL_MAP": "CLIENT:SASL_SSL"},
            "security.inter.broker.protocol",
            "SASL_SSL",
        ),
        ("3.4.0", PLAIN, "process.roles", "broker,controller"),
        ("3.4.0", PLAIN, "listeners", "PLAINTEXT://:9092,CONTROLLER://:9093"),
        ("3.4.0", PLAIN, "advertised.listeners", "PLAINTEXT://:9092"),
        ("3.4.0", PLAIN, "listener.security.protocol.map", None),
        ("3.4.0", {"KAFKA_ENABLE_KRAFT": "no"}, "listeners", None),
        ("3.7", {"KAFKA_PROCESS_ROLES": "broker"}, "process.roles", "broker"),
        ("3.7", {"KAFKA_MAX_MESSAGE_BYTES": "7"}, "message.max.bytes", "7"),
        ("3.7", {"KAFKA_CFG_LISTENER_NAME_CLIENT_SASL_SSL_X": "1"}, "listener.name.client.sasl_ssl.x", "1"),
        ("3.7", {"KAFKA_NODE_ID_COMMAND": "hostname"}, "node.id", None),
        ("3.3.2-debian-11-r183", {}, "listener.security.protocol.map", None),
        ("edge", {}, "listeners", None),
    ],
)
def test_setting(tag: str, environment: dict[str, str | None], name: str, value: str | None) -> None:
    assert made(tag, environment).settings[name].value == value


@pytest.mark.parametrize(
    ("tag", "environment", "name"),
    [
        ("3.7", KRAFT, "listeners"),
        ("4.0", KRAFT, "advertised.listeners"),
        ("latest", {"KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER"}, "controller.listener.names"),
        ("3.4.0", {"KAFKA_NODE_ID": "7"}, "zookeeper.connect"),
        ("2.8", {"KAFKA_PROCESS_ROLES": "broker"}, "process.roles"),
    ],
)
def test_not_set(tag: str, environment: dict[str, str | None], name: str) -> None:
    assert name not in made(tag, environment).settings


@pytest.mark.parametrize(
    ("tag", "environment", "variable", "prints"),
    [
        ("2.8", {}, "ALLOW_PLAINTEXT_LISTENER", "does not configure a secure listener"),
        (
            "3.4.0",
            {"ALLOW_PLAINTEXT_LISTENER": "no"},
            "ALLOW_PLAINTEXT_LISTENER",
            "does not configure a secure listener",
        ),
        ("3.4.0", {"KAFKA_CFG_NODE_ID": "1", **PLAIN}, "KAFKA_CFG_CONTROLLER_QUORUM_VOTERS", "KRaft requires"),
        ("3.7", {}, "KAFKA_CFG_PROCESS_ROLES", "either Raft or Zookeper mode"),
        ("4.0", {"KAFKA_CFG_ZOOKEEPER_CONNECT": "zoo:2181"}, "KAFKA_CFG_PROCESS_ROLES", "at least one process role"),
        ("latest", {}, "KAFKA_CFG_PROCESS_ROLES", "at least one process role"),
    ],
)
def test_refusal(tag: str, environment: dict[str, str | None], variable: str, prints: str) -> None:
    refusal = made(tag, environment).refusal
    assert refusal is not None
    assert (refusal.variable, refusal.missing) == (variable, True)
    assert prints in refusal.prints


@pytest.mark.parametrize(
    ("tag", "environment"),
    [
        ("2.8", PLAIN),
        ("2.8", {"ALLOW_PLAINTEXT_LISTENER": "true"}),
        ("2.8", {"ALLOW_PLAINTEXT_LISTENER": None}),
        ("2.8", {"KAFKA_CFG_LISTENERS": "SSL://:9092"}),
        ("3.7", KRAFT),
        ("3.7", {"KAFKA_CFG_ZOOKEEPER_CONNECT": "zoo:2181"}),
        ("latest", {"KAFKA_CFG_ZOOKEEPER_CONNECT": "zoo:2181"}),
        ("3.7", {"KAFKA_PROCESS_ROLES": None}),
        ("edge", {}),
    ],
)
def test_not_refused(tag: str, environment: dict[str, str | None]) -> None:
    assert made(tag, environment).refusal is None


@each(
    ("image", "expected"),
    [
        ("bitnami/kafka", Generation.EXPLICIT),
        ("bitnami/kafka:latest", Generation.EXPLICIT),
        ("bitnami/kafka:4.0.0-debian-12-r10", Generation.EXPLICIT),
        ("bitnami/kafka:3.6.2-debian-12-r5", Generation.EXPLICIT),
        ("bitnami/kafka:3", Generation.EXPLICIT),
        ("bitnami/kafka:3.5", Generation.EXPLICIT),
        ("bitnami/kafka:3.5.1", Generation.EXPLICIT),
        ("bitnami/kafka:3.5.1-debian-11-r4", Generation.EXPLICIT),
        ("bitnami/kafka:3.5.1-debian-11-r3", Generation.KRAFT),
        ("bitnami/kafka:3.5.0", Generation.KRAFT),
        ("bitnami/kafka:3.4", Generation.EXPLICIT),
        ("bitnami/kafka:3.4.1-debian-11-r49", Generation.KRAFT),
        ("bitnami/kafka:3.4.0", Generation.KRAFT),
        ("bitnami/kafka:3.4.0-debian-11-r22", Generation.ZOOKEEPER),
        ("bitnami/kafka:3.3.2-debian-11-r183", Generation.EXPLICIT),
        ("bitnami/kafka:3.3.2-debian-11-r29", Generation.KRAFT),
        ("bitnami/kafka:3.3.2-debian-11-r28", Generation.ZOOKEEPER),
        ("bitnami/kafka:3.3.1", Generation.ZOOKEEPER),
        ("bitnami/kafka:3.2", Generation.EXPLICIT),
        ("bitnami/kafka:3.2.0-debian-11-r12", Generation.ZOOKEEPER),
        ("bitnami/kafka:3.1", Generation.ZOOKEEPER),
        ("bitnami/kafka:2.8", Generation.ZOOKEEPER),
        ("bitnami/kafka:2", Generation.ZOOKEEPER),
        ("bitnami/kafka:1.1.1", Generation.UNKNOWN),
        ("bitnami/kafka:edge", Generation.UNKNOWN),
    ],
)
def test_generation(image: str, expected: Generation) -> None:
    reference = parse_image(image)
    assert generation(reference.tag, reference.kafka_version) is expected
