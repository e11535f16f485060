"""The table, the reader and the writer against kio, which reads the same schemas in its own way."""

import io
from typing import Any

import pytest

pytest.importorskip("kio")

from kio.serial import entity_reader, entity_writer

from netdiag.kafka import protocol as wire
from tests.kafka.protocol.kio_values import entity_class, from_kio, kio_fields, to_kio
from tests.kafka.protocol.random_values import RandomValues, every_message

VALUES_EACH = 4
KIO_TYPES = {
    "error_code": "int16",
    "timedelta_i32": "int32",
    "timedelta_i64": "int64",
    "datetime_i64": "int64",
}

SHARED = [
    pytest.param(key, version, direction, id=f"{wire.api_name(key)}-{direction}-v{version}")
    for key, version, direction in every_message()
    if entity_class(key, version, direction) is not None
]


def test_kio_knows_most_of_the_table() -> None:
    assert len(SHARED) >= 600


@pytest.mark.parametrize(("api_key", "version", "direction"), SHARED)
def test_the_layouts_are_the_same(api_key: int, version: int, direction: wire.Direction) -> None:
    cls = entity_class(api_key, version, direction)
    shape = wire.layout(api_key, version, direction)
    header = wire.header_version(api_key, version, direction)
    assert cls.__flexible__ == shape.flexible
    assert f".v{header}." in cls.__header_schema__.__module__
    same_layout(shape, cls)


def same_layout(shape: wire.Layout, cls: Any) -> None:
    ours = {field.name: field for field in (*shape.fields, *shape.tagged.values())}
    theirs = kio_fields(cls)
    assert ours.keys() == theirs.keys()
    in_order = [name for name in theirs if theirs[name].tag is None]
    assert [field.name for field in shape.fields] == in_order
    for name, field in ours.items():
        their = theirs[name]
        kind = KIO_TYPES.get(their.kafka_type, their.kafka_type)
        assert (field.kind, field.array, field.tag) == (kind, their.array, their.tag)
        if field.kind != "uuid" and their.kafka_type != "datetime_i64":
            assert field.nullable == their.optional
        if field.layout is not None:
            same_layout(field.layout, their.entity)


@pytest.mark.parametrize(("api_key", "version", "direction"), SHARED)
def test_the_bytes_are_the_same(api_key: int, version: int, direction: wire.Direction) -> None:
    cls = entity_class(api_key, version, direction)
    for seed in range(VALUES_EACH):
        values = RandomValues(f"{api_key} {version} {direction} {seed}")
        value = values.struct(wire.layout(api_key, version, direction))
        ours = wire.encode(api_key, version, direction, value)
        theirs = io.BytesIO()
        entity_writer(cls)(theirs, to_kio(cls, value))
        assert ours == theirs.getvalue()
        entity, size = entity_reader(cls)(ours, 0)
        decoded = wire.decode(api_key, version, direction, ours)
        assert size == len(ours) == decoded.length
        assert from_kio(entity) == value == decoded.value
