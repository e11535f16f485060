"""Images that are not known: only what is written counts."""

import pytest

from netdiag.kafka.images.unknown import looks_like_broker, settings

LISTS: dict[str, str | None] = {
    "KAFKA_LISTENERS": "A://:9092,C://:9094",
    "KAFKA_ADVERTISED_LISTENERS": "A://kafka:9092",
}
VOTER: dict[str, str | None] = {"KAFKA_NODE_ID": "1", "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@kafka:9094,2@other:9094"}


@pytest.mark.parametrize(
    ("environment", "broker"),
    [
        (LISTS, True),
        ({"KAFKA_LISTENERS": "A://:9092"}, False),
        ({**LISTS, "KAFKA_LISTENERS": None}, False),
        ({"KAFKA_LISTENERS": "events", "KAFKA_ADVERTISED_LISTENERS": "no"}, False),
    ],
)
def test_what_looks_like_a_broker(environment: dict[str, str | None], broker: bool) -> None:
    assert looks_like_broker(environment) is broker


def test_a_voter_is_a_controller_and_advertises_as_a_broker() -> None:
    made = settings({**LISTS, **VOTER}).settings
    assert (made["process.roles"].value, made["controller.listener.names"].value) == ("broker,controller", "C")


def test_nothing_else_is_taken_for_granted() -> None:
    made = settings(LISTS).settings
    assert made["process.roles"].value is None
    assert made["listener.security.protocol.map"].value is None
    assert settings({"KAFKA_LISTENERS": "A://:9092"}).settings == {}
