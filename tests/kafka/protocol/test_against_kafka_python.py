"""The table, the reader and the writer against kafka-python, a client that is made from Kafka's JSON schemas."""

import pytest

pytest.importorskip("kafka")

from netdiag.kafka import protocol as wire
from tests.kafka.protocol.kafka_python_values import from_kafka_python, message_class, to_kafka_python
from tests.kafka.protocol.random_values import RandomValues, every_message

VALUES_EACH = 4

SHARED = [
    pytest.param(key, version, direction, id=f"{wire.api_name(key)}-{direction}-v{version}")
    for key, version, direction in every_message()
    if message_class(key, version, direction) is not None
]


def test_kafka_python_knows_half_of_the_table() -> None:
    assert len(SHARED) >= 300


@pytest.mark.parametrize(("api_key", "version", "direction"), SHARED)
def test_the_bytes_are_the_same(api_key: int, version: int, direction: wire.Direction) -> None:
    cls = message_class(api_key, version, direction)
    shape = wire.layout(api_key, version, direction)
    for seed in range(VALUES_EACH):
        value = RandomValues(f"{api_key} {version} {direction} {seed}").struct(shape)
        ours = wire.encode(api_key, version, direction, value)
        assert to_kafka_python(cls, version, shape, value).encode(version=version) == ours
        assert from_kafka_python(shape, cls.decode(ours, version=version)) == value
        assert wire.decode(api_key, version, direction, ours).value == value
