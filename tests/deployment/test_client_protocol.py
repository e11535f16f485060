"""The security protocol that a client is known to speak, and the one it would have to."""

import pytest

from netdiag.deployment.clients import accepting_listener, attempts, client_protocol, listener_protocol
from tests.deployment.stacks import deployment_of

TEXT = """\
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
    return TEXT.format(client=f"{{image: '{image}', environment: {{{environment}}}{extra}}}")


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
    text = TEXT.format(client=f"{{image: shop/tools, command: '{command}'}}")
    (attempt,) = attempts(deployment_of(text))
    assert client_protocol(attempt) == protocol


@pytest.mark.parametrize(("port", "protocol"), [(29092, "PLAINTEXT"), (9092, "SASL_SSL")])
def test_what_the_listener_requires(port: int, protocol: str) -> None:
    deployment = deployment_of(_app("shop/app", f"KAFKA_BROKERS: 'kafka:{port}'"))
    (attempt,) = attempts(deployment)
    landed = accepting_listener(deployment, attempt.vantage, "kafka", port)
    assert landed is not None
    assert listener_protocol(landed) == protocol
