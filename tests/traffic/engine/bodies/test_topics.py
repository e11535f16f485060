"""Structs say which topic they are about: by name, by id, or by both."""

import pytest

from netdiag.kafka.protocol import Direction, Layout, layout
from netdiag.traffic.engine.bodies.topics import told_topic


def _inside(api_key: int, version: int, direction: Direction, array: str) -> Layout:
    (field,) = (each for each in layout(api_key, version, direction).fields if each.name == array)
    assert field.layout is not None
    return field.layout


@pytest.mark.parametrize(
    ("api_key", "version", "direction", "array", "name", "number"),
    [
        (1, 12, Direction.RESPONSE, "responses", "v_responses__topic", ""),
        (1, 13, Direction.RESPONSE, "responses", "", "v_responses__topic_id"),
        (3, 12, Direction.RESPONSE, "topics", "v_topics__name", "v_topics__topic_id"),
    ],
)
def test_name_and_id(api_key: int, version: int, direction: Direction, array: str, name: str, number: str) -> None:
    told = told_topic(api_key, _inside(api_key, version, direction, array), array)
    assert told is not None
    assert (told.name, told.number) == (name, number)
    assert told.last in told.after


def test_structs_without_a_topic() -> None:
    assert told_topic(3, _inside(3, 12, Direction.RESPONSE, "brokers"), "brokers") is None
    assert told_topic(12, layout(12, 4, Direction.REQUEST), "") is None


def test_resources_of_type_topic() -> None:
    told = told_topic(32, _inside(32, 4, Direction.REQUEST, "resources"), "resources")
    assert told is not None
    assert list(told.after) == ["resources.resource_name"]
