"""The table, the reader and the writer against kafka-python, a client that is made from Kafka's JSON schemas."""

import re
import warnings
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

import pytest

from tests.each import each

pytest.importorskip("kafka")

from netdiag.kafka import protocol as wire
from tests.kafka.protocol.random_values import RENAMED, RandomValues, every_message

TXN_OFFSET_COMMIT = 28


@cache
def message_classes() -> dict[tuple[int, str], Any]:
    """A message class for each schema that kafka-python carries, by api key and direction.

    Made here, by its own machinery, because its ready-made classes change some fields for the client's convenience.
    """
    base: Any = import_module("kafka.protocol.api_message").ApiMessage
    registry = import_module("kafka.protocol.api_header").ResponseClassRegistry._response_class_registry
    registered = dict(registry)
    classes = {}
    for resource in files("kafka.protocol.schemas.resources").iterdir():
        name = resource.name.removesuffix(".json")
        if re.fullmatch(r"\w+(Request|Response)", name):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                cls: Any = type(base)(name, (base,), {"__module__": __name__})
            classes[cls._json["apiKey"], cls._json["type"]] = cls
    # a class registers itself as the one for its answers, which the client's own classes must stay
    registry.clear()
    registry.update(registered)
    return classes


def message_class(api_key: int, version: int, direction: wire.Direction) -> Any:
    """kafka-python's class for a message; None where it does not know it.

    Its schemas are those of one Kafka 4 release; versions below their `validVersions` are no longer described by them.
    """
    cls = message_classes().get((api_key, direction.value))
    if cls is None:
        return None
    first, last = cls._valid_versions
    return cls if first <= version <= last else None


def to_kafka_python(cls: Any, version: int, shape: wire.Layout, value: dict[str, Any]) -> Any:
    """A kafka-python message, or a struct of one, with our values.

    A tagged struct of defaults is left out, as Kafka does it; kafka-python's own default for one is None.
    """
    fields = {_plain(field.name): field for field in cls._struct.fields.values()}
    arguments = {}
    for ours in (*shape.fields, *shape.tagged.values()):
        content = value[ours.name]
        if ours.tag is None or content != ours.default:
            field = fields[_plain(ours.name)]
            arguments[field.name] = _to_field(field, version, ours, content)
    return cls(version=version, **arguments)


def from_kafka_python(shape: wire.Layout, message: Any) -> dict[str, Any]:
    """Our plain value of a kafka-python message."""
    names = {_plain(field.name): field.name for field in message._struct.fields.values()}
    return {
        field.name: _from_field(field, getattr(message, names[_plain(field.name)]))
        for field in (*shape.fields, *shape.tagged.values())
    }


def _to_field(field: Any, version: int, ours: wire.Field, value: Any) -> Any:
    if value is None:
        return None
    if ours.layout is None:
        return list(value) if ours.array else value
    if ours.array:
        return [to_kafka_python(field.data_class, version, ours.layout, item) for item in value]
    return to_kafka_python(field.data_class, version, ours.layout, value)


def _from_field(field: wire.Field, value: Any) -> Any:
    if value is None:
        return field.default if field.tag is not None or field.kind == "uuid" else None
    if field.array:
        return tuple(_from_element(field, item) for item in value)
    return _from_element(field, value)


def _from_element(field: wire.Field, value: Any) -> Any:
    if field.layout is not None:
        return from_kafka_python(field.layout, value)
    if field.kind in ("bytes", "records"):
        return bytes(value)
    return value


def _plain(name: str) -> str:
    """The spelling of both sides that depends neither on release nor on how a library splits IsrNodes or ISRNodes."""
    return RENAMED.get((TXN_OFFSET_COMMIT, name), name).replace("_", "").lower()


VALUES_EACH = 4

SHARED = [
    pytest.param(key, version, direction, id=f"{wire.api_name(key)}-{direction}-v{version}")
    for key, version, direction in every_message()
    if message_class(key, version, direction) is not None
]


def test_kafka_python_knows_half_of_the_table() -> None:
    assert len(SHARED) >= 300


@each(("api_key", "version", "direction"), SHARED)
def test_the_bytes_are_the_same(api_key: int, version: int, direction: wire.Direction) -> None:
    cls = message_class(api_key, version, direction)
    shape = wire.layout(api_key, version, direction)
    for seed in range(VALUES_EACH):
        value = RandomValues(f"{api_key} {version} {direction} {seed}").struct(shape)
        ours = wire.encode(api_key, version, direction, value)
        assert to_kafka_python(cls, version, shape, value).encode(version=version) == ours
        assert from_kafka_python(shape, cls.decode(ours, version=version)) == value
        assert wire.decode(api_key, version, direction, ours).value == value
