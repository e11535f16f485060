"""Encode a message from a plain value, by its layout.

The value is what `decode` gives: a mapping by field name. A field that is missing is written with its default; a tagged
field that equals its default is not written, as Kafka does it. A name that the version does not have is an error.
"""

import struct
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from netdiag.kafka.protocol.errors import EncodeError
from netdiag.kafka.protocol.reader import UNKNOWN_TAGS
from netdiag.kafka.protocol.table import Direction, Field, Layout, data_layout, layout

_CODES = {"int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "float64": "d"}


def encode(api_key: int, api_version: int, direction: Direction, value: Mapping[str, Any]) -> bytes:
    """Encode one message body (without size and header)."""
    return encode_layout(layout(api_key, api_version, direction), value)


def encode_data(name: str, version: int, value: Mapping[str, Any]) -> bytes:
    """Encode data that travels inside a message (without its version)."""
    return encode_layout(data_layout(name, version), value)


def encode_layout(shape: Layout, value: Mapping[str, Any]) -> bytes:
    """Encode a struct of any layout."""
    out = bytearray()
    _write_struct(out, shape, value)
    return bytes(out)


def _write_struct(out: bytearray, shape: Layout, value: Mapping[str, Any]) -> None:
    if not isinstance(value, Mapping):
        raise EncodeError(f"a struct is needed, not {type(value).__name__}")
    names = {field.name for field in (*shape.fields, *shape.tagged.values())}
    strangers = value.keys() - names - ({UNKNOWN_TAGS} if shape.flexible else set())
    if strangers:
        raise EncodeError(f"no field '{min(strangers)}' in this version")
    for field in shape.fields:
        _write_named(out, field, value.get(field.name, field.default))
    if shape.flexible:
        _write_tags(out, shape, value)


def _write_tags(out: bytearray, shape: Layout, value: Mapping[str, Any]) -> None:
    tagged: dict[int, bytes] = {}
    for tag, field in shape.tagged.items():
        content = value.get(field.name, field.default)
        if content != field.default:
            body = bytearray()
            _write_named(body, field, content)
            tagged[tag] = bytes(body)
    for tag, raw in value.get(UNKNOWN_TAGS, ()):
        if tag in shape.tagged or tag in tagged:
            raise EncodeError(f"tag {tag} stands twice or is known by name")
        tagged[tag] = raw
    _write_varint(out, len(tagged))
    for tag in sorted(tagged):
        _write_varint(out, tag)
        _write_varint(out, len(tagged[tag]))
        out += tagged[tag]


def _write_named(out: bytearray, field: Field, value: Any) -> None:
    try:
        _write_field(out, field, value)
    except EncodeError as error:
        error.steps.append(field.name)
        raise


def _write_field(out: bytearray, field: Field, value: Any) -> None:
    if field.array:
        _write_array(out, field, value)
    elif field.layout is not None:
        if field.nullable:
            out += b"\xff" if value is None else b"\x01"
        if value is not None or not field.nullable:
            _write_struct(out, field.layout, value)
    else:
        _write_primitive(out, field, value)


def _write_array(out: bytearray, field: Field, value: Sequence[Any] | None) -> None:
    if value is None:
        _write_length(out, field, None, "i")
        return
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise EncodeError(f"an array is needed, not {type(value).__name__}")
    _write_length(out, field, len(value), "i")
    for index, item in enumerate(value):
        try:
            if field.layout is not None:
                _write_struct(out, field.layout, item)
            else:
                _write_primitive(out, field, item)
        except EncodeError as error:
            error.steps.append(f"[{index}]")
            raise


def _write_primitive(out: bytearray, field: Field, value: Any) -> None:
    match field.kind:
        case "string":
            _write_bytes(out, field, value.encode() if isinstance(value, str) else value, str, "h")
        case "bytes" | "records":
            _write_bytes(out, field, value, bytes, "i")
        case "uuid":
            if not isinstance(value, uuid.UUID):
                raise EncodeError(f"a UUID is needed, not {type(value).__name__}")
            out += value.bytes
        case "bool":
            out.append(1 if value else 0)
        case kind:
            try:
                out += struct.pack(">" + _CODES[kind], value)
            except struct.error as error:
                raise EncodeError(f"{value!r} is no {kind}") from error


def _write_bytes(out: bytearray, field: Field, value: Any, wanted: type, code: str) -> None:
    if value is not None and not isinstance(value, bytes):
        raise EncodeError(f"{wanted.__name__} is needed, not {type(value).__name__}")
    _write_length(out, field, None if value is None else len(value), code)
    out += value or b""


def _write_length(out: bytearray, field: Field, length: int | None, code: str) -> None:
    if length is None and not field.nullable:
        raise EncodeError("null where null is not allowed")
    if field.compact:
        _write_varint(out, 0 if length is None else length + 1)
        return
    try:
        out += struct.pack(">" + code, -1 if length is None else length)
    except struct.error as error:
        raise EncodeError(f"a length of {length} does not fit") from error


def _write_varint(out: bytearray, value: int) -> None:
    if not 0 <= value <= 0xFFFFFFFF:
        raise EncodeError(f"{value} is no unsigned varint of 32 bits")
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
