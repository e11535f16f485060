"""A listener for everybody becomes one for containers and one for the docker host."""

import pytest

from netdiag.deployment.repairs import split_listener
from netdiag.findings import Edit
from tests.deployment.stacks import deployment_of
from tests.deployment.test_rewriting import STACK, after

SPLIT = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9092:29092", 9100]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092,EXTERNAL://localhost:9092
      KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092,EXTERNAL://0.0.0.0:29092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
"""


def edits(text: str) -> tuple[Edit, ...]:
    deployment = deployment_of(text)
    broker = deployment.brokers[0]
    return split_listener(deployment, broker, broker.config.advertised_listeners[0])


@pytest.mark.parametrize("host", ["kafka", "localhost"])
def test_both_sides_keep_their_addresses(host: str) -> None:
    text = STACK.replace("PLAINTEXT://kafka", f"PLAINTEXT://{host}")
    assert after(text, edits(text)) == SPLIT


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("PLAINTEXT://kafka", "SSL://kafka"),
        ('"9092:9092", 9100', '"9092:9092", "9093:9092"'),
        ('"9092:9092", 9100', "9092"),
        ("    ports", "    network_mode: host\n    ports"),
        ("    ports", "    volumes: ['./server.properties:/etc/kafka/server.properties']\n    ports"),
        ("      KAFKA_ADV", "      KAFKA_LISTENERS: PLAINTEXT://127.0.0.1:9092\n      KAFKA_ADV"),
    ],
)
def test_what_is_a_decision(old: str, new: str) -> None:
    assert edits(STACK.replace(old, new)) == ()


def test_names_and_ports_that_are_taken() -> None:
    text = STACK.replace(
        "PLAINTEXT://kafka:9092\n",
        "PLAINTEXT://kafka:9092,EXTERNAL://kafka:29092\n"
        "      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT,HOST:SSL\n",
    )
    assert "OUTSIDE://0.0.0.0:29093" in after(text, edits(text))
