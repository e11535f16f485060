"""Why a broker gets something else than its author meant."""

import pytest

from netdiag.deployment.misread_settings import MisreadCause, MisreadValue, is_quoted, misread_values
from tests.deployment.stacks import deployment_of

STACK = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      - KAFKA_ZOOKEEPER_CONNECT=zookeeper:2181
      - KAFKA_ADVERTISED_LISTENERS={value}
"""


def causes(value: str) -> list[tuple[MisreadCause, str, bool]]:
    (broker,) = deployment_of(STACK.format(value=value)).brokers
    return [(found.cause, found.text, found.is_fatal) for found in misread_values(broker, "advertised.listeners")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("PLAINTEXT://kafka:9092", []),
        ('"A://kafka:1,B://kafka:2"', [(MisreadCause.QUOTED, '"A://kafka:1,B://kafka:2"', True)]),
        ("A://kafka:1,B://$$HOST:2", [(MisreadCause.LITERAL, "$HOST", True)]),
        ("A://$$(hostname -f):1", [(MisreadCause.LITERAL, "$(hostname -f)", True)]),
        ("A://${HOST}:1", [(MisreadCause.BLANK, "HOST", False)]),
        ("A://kafka:1,B://kafka:${PORT}", [(MisreadCause.BLANK, "PORT", True)]),
        # a blank that leaves a whole entry, and a variable that is a part of a name
        ("A://kafka:1,${MORE}", []),
        ("A://kafka${SUFFIX}:1", []),
    ],
)
def test_causes(value: str, expected: list[tuple[MisreadCause, str, bool]]) -> None:
    assert causes(value) == expected


def test_a_list_that_nobody_wrote_has_none() -> None:
    (broker,) = deployment_of(STACK.format(value='"A://kafka:1"')).brokers
    assert misread_values(broker, "listeners") == ()
    (found,) = misread_values(broker, "advertised.listeners")
    assert found == MisreadValue(cause=MisreadCause.QUOTED, text='"A://kafka:1"', start=0, end=13)


@pytest.mark.parametrize(
    ("value", "quoted"), [("'a'", True), (' "a" ', True), ("\"a'", False), ('"', False), ("", False)]
)
def test_quotes(value: str, quoted: bool) -> None:
    assert is_quoted(value) is quoted
