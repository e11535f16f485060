"""What becomes of each address of a bootstrap list."""

import pytest

from netdiag.deployment.clients import UnresolvedName, attempts, target_member, usable_address, why_unresolved
from tests.deployment.stacks import deployment_of

TEXT = """\
name: t
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    {broker}
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: EXTERNAL://:9092,PLAINTEXT://:29092
      KAFKA_ADVERTISED_LISTENERS: EXTERNAL://localhost:9092,PLAINTEXT://kafka:29092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
  rabbit:
    image: rabbitmq
  app:
    image: shop/app
    {client}
    environment:
      {variable}: {value}
networks: {{a: , b: }}
"""


def text(value: str, *, variable: str = "BROKERS", broker: str = "init: true", client: str = "init: true") -> str:
    return TEXT.format(broker=broker, client=client, variable=variable, value=value)


def test_each_address_has_its_place_in_the_value() -> None:
    found = list(attempts(deployment_of(text("'kafka:9092 , kafka:1'"))))
    assert [(str(a.address), a.entry.start, a.entry.end) for a in found] == [("kafka:9092", 0, 10), ("kafka:1", 13, 20)]


@pytest.mark.parametrize(
    ("variable", "value", "count"),
    [
        ("BROKERS", "rabbit:5672", 0),
        ("BROKERS", "rabbit:9092", 1),
        ("BROKERS", "kafka:5672", 1),
        ("KAFKA_BROKERS", "rabbit:5672", 1),
        ("BOOTSTRAP_SERVERS", "rabbit:5672", 1),
    ],
)
def test_only_what_is_for_kafka_is_an_attempt(variable: str, value: str, count: int) -> None:
    assert len(list(attempts(deployment_of(text(value, variable=variable))))) == count


@pytest.mark.parametrize(
    ("value", "broker", "client", "expected"),
    [
        ("kafka:9092", "init: true", "init: true", None),
        ("nobody:9092", "init: true", "init: true", UnresolvedName.NOBODY),
        ("nobody.example.org:9092", "init: true", "init: true", None),
        ("host.docker.internal:9092", "init: true", "init: true", None),
        ("kafka:9092", "networks: [a]", "networks: [b]", UnresolvedName.NOT_SHARED),
        ("kafka:9092", "network_mode: host", "init: true", UnresolvedName.HOST_MODE),
        ("kafka:9092", "init: true", "network_mode: host", UnresolvedName.HOST_MODE),
        ("kafka:9092", "network_mode: bridge", "init: true", UnresolvedName.DEFAULT_BRIDGE),
        ("kafka:9092", "init: true", "network_mode: bridge", UnresolvedName.DEFAULT_BRIDGE),
    ],
)
def test_why_a_name_means_nothing(value: str, broker: str, client: str, expected: UnresolvedName | None) -> None:
    deployment = deployment_of(text(value, broker=broker, client=client))
    (attempt,) = attempts(deployment)
    assert why_unresolved(deployment, attempt) is expected


def test_the_usable_address_is_that_of_the_listener_for_containers() -> None:
    deployment = deployment_of(text("kafka:9092"))
    (attempt,) = attempts(deployment)
    assert str(usable_address(deployment, attempt)) == "kafka:29092"
    member = target_member(deployment, attempt)
    assert member is not None
    assert member.name == "kafka"
