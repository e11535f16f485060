"""What a client is told by the listener it enters through, and what becomes of it there."""

import pytest

from netdiag.deployment.clients import accepting_listener, advertises_nothing, attempts, second_hops
from tests.deployment.stacks import deployment_of

TEXT = """\
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
    text = TEXT.format(first=_broker(1, "INTERNAL://kafka-1:29092"), second=_broker(2, second))
    deployment = deployment_of(text)
    (attempt,) = attempts(deployment)
    landed = accepting_listener(deployment, attempt.vantage, "kafka-1", 29092)
    assert landed is not None
    sent = second_hops(deployment, attempt.vantage, landed)
    assert [(s.broker.name, s.known, s.because) for s in sent] == expected
    assert [s.works for s in sent] == [known and not because for _, known, because in expected]


def test_an_endpoint_that_fails_says_why() -> None:
    text = TEXT.format(first=_broker(1, "INTERNAL://kafka-1:29092"), second=_broker(2, "INTERNAL://kafka-2:9"))
    deployment = deployment_of(text)
    (attempt,) = attempts(deployment)
    landed = accepting_listener(deployment, attempt.vantage, "kafka-1", 29092)
    assert landed is not None
    assert [bool(sent.because) for sent in second_hops(deployment, attempt.vantage, landed)] == [False, True]


@pytest.mark.parametrize(("advertised", "nothing"), [("INTERNAL://kafka-1:29092", False), ("OTHER://kafka-1:9", True)])
def test_a_listener_that_nobody_advertises_tells_nothing(advertised: str, nothing: bool) -> None:
    first = _broker(1, advertised, "INTERNAL://:29092,OTHER://:9")
    deployment = deployment_of(TEXT.format(first=first, second="{image: shop/other}"))
    (attempt,) = attempts(deployment)
    landed = accepting_listener(deployment, attempt.vantage, "kafka-1", 29092)
    assert landed is not None
    assert advertises_nothing(deployment, landed) is nothing
