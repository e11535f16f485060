"""The table, the reader and the writer against kio, which reads the same schemas in its own way."""

import dataclasses
import datetime
import io
import uuid
from collections.abc import Hashable
from functools import cache
from typing import Any, cast

import pytest

from tests.each import each

pytest.importorskip("kio")

from kio.index import KioIndexError, load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer
from kio.serial._introspect import EntityField, EntityTupleField, classify_field, get_field_tag, is_optional

from netdiag.kafka import protocol as wire
from tests.kafka.protocol.random_values import RENAMED, RandomValues, every_message

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KioField:
    """What kio says of a field, in our words."""

    attribute: str
    ours: str
    kafka_type: str
    array: bool
    optional: bool
    tag: int | None
    entity: Any


def entity_class(api_key: int, version: int, direction: wire.Direction) -> Any:
    """kio's class for a message; None where this kio does not know it."""
    load: Any = load_request_schema if direction is wire.Direction.REQUEST else load_response_schema
    try:
        return load(api_key, version)
    except KioIndexError:
        return None


def kio_fields(cls: Any) -> dict[str, KioField]:
    """The fields of a kio entity under our names; kio drops "_ms" from times and pads Python's own words."""
    return _kio_fields(cls)


@cache
def _kio_fields(cls: Hashable) -> dict[str, KioField]:
    found = {}
    for field in dataclasses.fields(cast("Any", cls)):
        kind = classify_field(field)
        entity = kind.type_ if isinstance(kind, EntityField | EntityTupleField) else None
        kafka_type = "struct" if entity is not None else field.metadata["kafka_type"]
        timed = kafka_type.startswith(("timedelta", "datetime"))
        ours = field.name.rstrip("_") + ("_ms" if timed and not field.name.endswith("_ms") else "")
        ours = RENAMED.get((int(cast("Any", cls).__api_key__), ours), ours)
        found[ours] = KioField(
            attribute=field.name,
            ours=ours,
            kafka_type=kafka_type,
            array=kind.is_array,
            optional=is_optional(field),
            tag=get_field_tag(field),
            entity=entity,
        )
    return found


def to_kio(cls: Any, value: dict[str, Any]) -> Any:
    """A kio entity with our values."""
    fields = kio_fields(cls)
    return cls(**{fields[name].attribute: _to_kio_field(fields[name], content) for name, content in value.items()})


def from_kio(entity: Any) -> dict[str, Any]:
    """Our plain value of a kio entity."""
    return {
        name: _from_kio_field(field, getattr(entity, field.attribute))
        for name, field in kio_fields(type(entity)).items()
    }


def _to_kio_field(field: KioField, value: Any) -> Any:
    if value is None:
        return None
    if field.array:
        return tuple(_to_kio_element(field, item) for item in value)
    return _to_kio_element(field, value)


def _to_kio_element(field: KioField, value: Any) -> Any:
    if field.entity is not None:
        return to_kio(field.entity, value)
    match field.kafka_type:
        case "error_code":
            return ErrorCode(value)
        case "timedelta_i32" | "timedelta_i64":
            return datetime.timedelta(milliseconds=value)
        case "datetime_i64":
            return None if value == -1 else EPOCH + datetime.timedelta(milliseconds=value)
        case "uuid":
            return None if value == uuid.UUID(int=0) else value
    return value


def _from_kio_field(field: KioField, value: Any) -> Any:
    if field.array:
        return None if value is None else tuple(_from_kio_element(field, item) for item in value)
    return _from_kio_element(field, value)


def _from_kio_element(field: KioField, value: Any) -> Any:
    if field.entity is not None:
        return None if value is None else from_kio(value)
    match field.kafka_type:
        case "error_code":
            return int(value)
        case "timedelta_i32" | "timedelta_i64":
            return value // datetime.timedelta(milliseconds=1)
        case "datetime_i64":
            return -1 if value is None else (value - EPOCH) // datetime.timedelta(milliseconds=1)
        case "uuid":
            return uuid.UUID(int=0) if value is None else value
    return value


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


@each(("api_key", "version", "direction"), SHARED)
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


@each(("api_key", "version", "direction"), SHARED)
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
