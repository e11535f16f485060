"""Why a broker gets something else than its author meant."""

import pytest

from netdiag.deployment.unexpanded import Cause, Unexpanded, is_quoted, unexpanded
from tests.deployment.stacks import deployment_of

STACK = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      - KAFKA_ZOOKEEPER_CONNECT=zookeeper:2181
      - KAFKA_ADVERTISED_LISTENERS={value}
"""


def causes(value: str) -> list[tuple[Cause, str, bool]]:
    (broker,) = deployment_of(STACK.format(value=value)).brokers
    return [(found.cause, found.text, found.is_fatal) for found in unexpanded(broker, "advertised.listeners")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("PLAINTEXT://kafka:9092", []),
        ('"A://kafka:1,B://kafka:2"', [(Cause.QUOTED, '"A://kafka:1,B://kafka:2"', True)]),
        ("A://kafka:1,B://$$HOST:2", [(Cause.LITERAL, "$HOST", True)]),
        ("A://$$(hostname -f):1", [(Cause.LITERAL, "$(hostname -f)", True)]),
        ("A://${HOST}:1", [(Cause.BLANK, "HOST", False)]),
        ("A://kafka:1,B://kafka:${PORT}", [(Cause.BLANK, "PORT", True)]),
        # a blank that leaves a whole entry, and a variable that is a part of a name
        ("A://kafka:1,${MORE}", []),
        ("A://kafka${SUFFIX}:1", []),
    ],
)
def test_causes(value: str, expected: list[tuple[Cause, str, bool]]) -> None:
    assert causes(value) == expected


def test_a_list_that_nobody_wrote_has_none() -> None:
    (broker,) = deployment_of(STACK.format(value='"A://kafka:1"')).brokers
    assert unexpanded(broker, "listeners") == ()
    (found,) = unexpanded(broker, "advertised.listeners")
    assert found == Unexpanded(cause=Cause.QUOTED, text='"A://kafka:1"', start=0, end=13)


@pytest.mark.parametrize(
    ("value", "quoted"), [("'a'", True), (' "a" ', True), ("\"a'", False), ('"', False), ("", False)]
)
def test_quotes(value: str, quoted: bool) -> None:
    assert is_quoted(value) is quoted
