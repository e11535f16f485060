"""What becomes of each address of a bootstrap list: both hops, and the security protocols of client and listener."""

import pytest

from netdiag.deployment.clients import (
    UnresolvedName,
    accepting_listener,
    advertises_nothing,
    attempts,
    client_protocol,
    listener_protocol,
    second_hops,
    target_member,
    usable_address,
    why_unresolved,
)
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


PROTOCOL_TEXT = """\
name: t
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: INTERNAL://:29092,SECURE://:9092
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,SECURE://kafka:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,SECURE:SASL_SSL
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
  client: {client}
"""
CONNECT = "confluentinc/cp-kafka-connect:7.9.2"


def _app(image: str, environment: str, extra: str = "") -> str:
    return PROTOCOL_TEXT.format(client=f"{{image: '{image}', environment: {{{environment}}}{extra}}}")


@pytest.mark.parametrize(
    ("image", "environment", "extra", "protocol"),
    [
        ("shop/app", "KAFKA_BOOTSTRAP_SERVERS: 'kafka:9092'", "", None),
        ("shop/app", "KAFKA_BOOTSTRAP_SERVERS: 'kafka:9092', KAFKA_SECURITY_PROTOCOL: SASL_SSL", "", "SASL_SSL"),
        (CONNECT, "CONNECT_BOOTSTRAP_SERVERS: 'kafka:9092'", "", "PLAINTEXT"),
        (CONNECT, "CONNECT_BOOTSTRAP_SERVERS: 'kafka:9092', CONNECT_SECURITY_PROTOCOL: SSL", "", "SSL"),
        (CONNECT, "CONNECT_BOOTSTRAP_SERVERS: 'kafka:9092', CONNECT_SASL_MECHANISM: PLAIN", "", None),
        (CONNECT, "CONNECT_BOOTSTRAP_SERVERS: 'kafka:9092'", ", volumes: ['./etc:/etc/kafka-connect']", None),
        ("shop/kafka-connect", "CONNECT_BOOTSTRAP_SERVERS: 'kafka:9092'", "", None),
    ],
)
def test_what_a_client_speaks(image: str, environment: str, extra: str, protocol: str | None) -> None:
    (attempt,) = attempts(deployment_of(_app(image, environment, extra)))
    assert client_protocol(attempt) == protocol


@pytest.mark.parametrize(
    ("command", "protocol"),
    [
        ("kafka-topics --bootstrap-server kafka:9092 --list", "PLAINTEXT"),
        ("kafka-topics --bootstrap-server kafka:9092 --command-config /c.properties --list", None),
        ("kcat -b kafka:9092 -L", None),
    ],
)
def test_what_a_tool_speaks(command: str, protocol: str | None) -> None:
    text = PROTOCOL_TEXT.format(client=f"{{image: shop/tools, command: '{command}'}}")
    (attempt,) = attempts(deployment_of(text))
    assert client_protocol(attempt) == protocol


@pytest.mark.parametrize(("port", "protocol"), [(29092, "PLAINTEXT"), (9092, "SASL_SSL")])
def test_what_the_listener_requires(port: int, protocol: str) -> None:
    deployment = deployment_of(_app("shop/app", f"KAFKA_BROKERS: 'kafka:{port}'"))
    (attempt,) = attempts(deployment)
    landed = accepting_listener(deployment, attempt.vantage, "kafka", port)
    assert landed is not None
    assert listener_protocol(landed) == protocol


SECOND_HOP_TEXT = """\
name: t
services:
  kafka-1: {first}
  kafka-2: {second}
  app:
    image: shop/app
    environment:
      KAFKA_BROKERS: kafka-1:29092
"""


def _broker(number: int, advertised: str, listeners: str = "INTERNAL://:29092") -> str:
    return (
        "{image: 'confluentinc/cp-kafka:7.9.2', environment: {"
        f"KAFKA_BROKER_ID: {number}, KAFKA_ZOOKEEPER_CONNECT: 'zookeeper:2181', KAFKA_LISTENERS: '{listeners}', "
        f"KAFKA_ADVERTISED_LISTENERS: '{advertised}', KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL, "
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'INTERNAL:PLAINTEXT,OTHER:PLAINTEXT'}}"
    )


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ("INTERNAL://kafka-2:29092", [("kafka-1", True, ""), ("kafka-2", True, "")]),
        ("INTERNAL://kafka-1:29092", [("kafka-1", True, ""), ("kafka-2", True, "kafka-1 answers there")]),
        ("INTERNAL://:29092", [("kafka-1", True, ""), ("kafka-2", False, "")]),
    ],
)
def test_each_broker_of_the_cluster_is_told(second: str, expected: list[tuple[str, bool, str]]) -> None:
    text = SECOND_HOP_TEXT.format(first=_broker(1, "INTERNAL://kafka-1:29092"), second=_broker(2, second))
    deployment = deployment_of(text)
    (attempt,) = attempts(deployment)
    landed = accepting_listener(deployment, attempt.vantage, "kafka-1", 29092)
    assert landed is not None
    sent = second_hops(deployment, attempt.vantage, landed)
    assert [(s.broker.name, s.known, s.because) for s in sent] == expected
    assert [s.works for s in sent] == [known and not because for _, known, because in expected]


def test_an_endpoint_that_fails_says_why() -> None:
    text = SECOND_HOP_TEXT.format(
        first=_broker(1, "INTERNAL://kafka-1:29092"), second=_broker(2, "INTERNAL://kafka-2:9")
    )
    deployment = deployment_of(text)
    (attempt,) = attempts(deployment)
    landed = accepting_listener(deployment, attempt.vantage, "kafka-1", 29092)
    assert landed is not None
    assert [bool(sent.because) for sent in second_hops(deployment, attempt.vantage, landed)] == [False, True]


@pytest.mark.parametrize(("advertised", "nothing"), [("INTERNAL://kafka-1:29092", False), ("OTHER://kafka-1:9", True)])
def test_a_listener_that_nobody_advertises_tells_nothing(advertised: str, nothing: bool) -> None:
    first = _broker(1, advertised, "INTERNAL://:29092,OTHER://:9")
    deployment = deployment_of(SECOND_HOP_TEXT.format(first=first, second="{image: shop/other}"))
    (attempt,) = attempts(deployment)
    landed = accepting_listener(deployment, attempt.vantage, "kafka-1", 29092)
    assert landed is not None
    assert advertises_nothing(deployment, landed) is nothing
