"""Which ports the brokers of a deployment have."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.prediction.listener_access import listener_ports
from netdiag.deployment.sources.compose import from_compose

BROKER = """
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: {ports}
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: {listeners}
      KAFKA_ADVERTISED_LISTENERS: {advertised}
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: A:PLAINTEXT,B:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: A
  web:
    image: nginx
    ports: ["8080:80", "9999:9092"]
"""


@pytest.mark.parametrize(
    ("listeners", "advertised", "ports", "expected"),
    [
        ("A://:9092", "A://kafka:9092", "[]", (9092,)),
        ("A://:9092,B://:29092", "A://kafka:9092,B://localhost:19092", '["19092:29092"]', (9092, 19092, 29092)),
        ("A://:9092", "A://kafka:9092", '["39092:9092", "8081:8081"]', (9092, 39092)),
        ("A://:9092", "A://kafka:9092", '["9092:9092/udp", "9092"]', (9092,)),
        ("A://:0", "A://kafka:9092", "[]", (9092,)),
    ],
)
def test_bound_told_and_published(listeners: str, advertised: str, ports: str, expected: tuple[int, ...]) -> None:
    text = BROKER.format(listeners=listeners, advertised=advertised, ports=ports)
    assert listener_ports(from_compose(load(Source("c.yml", text)))) == expected


def test_without_a_broker_there_is_none() -> None:
    text = "services:\n  web:\n    image: nginx\n    ports: ['8080:80']\n"
    assert listener_ports(from_compose(load(Source("c.yml", text)))) == ()
