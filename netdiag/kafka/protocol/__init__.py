"""Kafka's wire protocol: one table of every message, a bounded reader and a writer for it.

    from netdiag.kafka import protocol as wire

    frame = wire.encode_request(3, 12, correlation_id=7, client_id="netdiag", body={"topics": ()})
    for message in wire.FrameSplitter(largest=1 << 20).feed(received_bytes):
        answer = wire.decode_response(message, api_key=3, api_version=12)
        answer.body.value["brokers"][0]["host"]

`decode`/`encode` work on bodies alone, `decode_layout`/`encode_layout` on any `Layout`. Bytes that are not what they
should be raise `RemoteProtocolError` (a `FrameError` or a `DecodeError` with offset and field path) and nothing else;
wrong calls raise `LocalProtocolError`.

The bytes come from a source not to be trusted. When they are decoded, every length and count is held against the bytes
that are left, and every element against a budget, before anything is allocated for it; nesting is as deep as the table,
never as deep as the input.

Values: a struct is a dict by field name, an array a tuple, `string` a str (bytes that are not UTF-8 become U+FFFD, as
in Kafka's own reader), `bytes` and `records` are bytes, `uuid` a `uuid.UUID`, null is None. A tagged field that is not
on the wire has its default. Tagged fields that the table does not know are kept under `UNKNOWN_TAGS`, as (tag, bytes).

A capture may keep only the first bytes of a message: with `declared` set to the length that the message had, running
out of bytes before that length is no error; the value then holds what was decoded and `truncated` says where it ends.

Fields whose names are `omitted` are read, but neither kept nor counted as values.

Encoding takes what decoding gives. A field that is missing is written with its default; a tagged field that equals its
default is not written, as Kafka does it. A name that the version does not have is an error.

A frame, into which a stream is cut, is a size of four bytes and so many bytes of one message. A size that cannot be one
is refused on its own four bytes, before any of the frame is waited for or stored.
"""

import struct
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from netdiag.kafka.protocol.table import (
    API_VERSIONS,
    DecodeError,
    Direction,
    EncodeError,
    Field,
    FrameError,
    Layout,
    LocalProtocolError,
    ProtocolError,
    RemoteProtocolError,
    UnknownMessage,
    api_keys,
    api_name,
    api_versions,
    data_layout,
    header_layout,
    header_version,
    layout,
    release_versions,
    releases,
    stable_versions,
    stored_layout,
    stored_name,
    stored_topics,
)
from netdiag.values import dataclass

UNKNOWN_TAGS = "unknown_tagged_fields"
MAX_VALUES = 1_000_000

Struct = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncated:
    """Where a message ended that a capture did not keep whole: the first field that is not there in full."""

    offset: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A decoded struct, how many bytes it took and how many were left over behind it."""

    value: Struct
    length: int
    left_over: int
    truncated: Truncated | None = None


def decode(
    api_key: int,
    api_version: int,
    direction: Direction,
    data: bytes | bytearray | memoryview,
    *,
    declared: int | None = None,
    max_values: int = MAX_VALUES,
    omitted: frozenset[str] = frozenset(),
) -> Decoded:
    """Decode one message body (without size and header).

    Bytes behind the message are not an error (brokers and mocks have sent such): they are counted in `left_over`.
    """
    shape = layout(api_key, api_version, direction)
    return decode_layout(shape, data, declared=declared, max_values=max_values, omitted=omitted)


def decode_data(name: str, version: int, data: bytes | bytearray | memoryview) -> Decoded:
    """Decode data that travels inside a message, such as a ConsumerProtocolSubscription (without its version)."""
    return decode_layout(data_layout(name, version), data)


def decode_layout(
    shape: Layout,
    data: bytes | bytearray | memoryview,
    *,
    declared: int | None = None,
    max_values: int = MAX_VALUES,
    omitted: frozenset[str] = frozenset(),
) -> Decoded:
    """Decode a struct of any layout from the start of the data."""
    reader = _Reader(data, declared, max_values, omitted)
    try:
        value = reader.read_struct(shape)
    except _EndOfData as end:
        partial = end.partial if isinstance(end.partial, dict) else {}
        return Decoded(
            value=partial,
            length=len(data),
            left_over=0,
            truncated=Truncated(offset=end.offset, path=end.path),
        )
    return Decoded(value=value, length=reader.position, left_over=reader.end - reader.position)


class _EndOfData(DecodeError):
    """The kept bytes end before the declared ones do; carries what was decoded up to there."""

    partial: object = None


class _Reader:
    """A position in the data, the two ends that bound it, and what may still be allocated.

    `end` bounds the bytes that are there, `declared_end` those that were there when the message was sent.
    """

    __slots__ = ("budget", "data", "declared_end", "end", "omitted", "position")

    def __init__(
        self,
        data: bytes | bytearray | memoryview,
        declared: int | None,
        max_values: int,
        omitted: frozenset[str] = frozenset(),
    ) -> None:
        self.data = memoryview(data)
        self.position = 0
        self.end = len(self.data)
        self.declared_end = self.end if declared is None else max(declared, self.end)
        self.budget = max_values
        self.omitted = omitted

    def read_struct(self, shape: Layout) -> Struct:
        self.spend(1 + len(shape.fields) + len(shape.tagged))
        out: Struct = {}
        for field in shape.fields:
            budget = self.budget
            try:
                value = self.read_field(field)
            except DecodeError as error:
                raise _inside(error, field.name, out) from None
            if field.name in self.omitted:
                self.budget = budget + 1
            else:
                out[field.name] = value
        if shape.flexible:
            for field in shape.tagged.values():
                out[field.name] = deepcopy(field.default)
            try:
                self.read_tags(shape, out)
            except _EndOfData as end:
                end.partial = out
                raise
        return out

    def read_field(self, field: Field) -> object:
        if field.array:
            return self.read_array(field)
        if field.layout is not None:
            if field.nullable and self.fixed("b", 1) < 0:
                return None
            return self.read_struct(field.layout)
        return _READERS[field.kind](self, field)

    def read_array(self, field: Field) -> tuple[object, ...] | None:
        count = self.read_varint() - 1 if field.compact else self.fixed("i", 4)
        if count < 0:
            self.check_null(field, count)
            return None
        left = self.declared_end - self.position
        if count * field.min_size > left:
            raise DecodeError(f"an array of {count} elements does not fit into {left} bytes", self.position)
        self.spend(count)
        items: list[object] = []
        try:
            if field.layout is not None:
                for _ in range(count):
                    items.append(self.read_struct(field.layout))
            else:
                read = _READERS[field.kind]
                for _ in range(count):
                    items.append(read(self, field))
        except DecodeError as error:
            if isinstance(error, _EndOfData):
                kept = () if error.partial is None else (error.partial,)
                error.partial = (*items, *kept)
            error.steps.append(f"[{len(items)}]")
            raise
        return tuple(items)

    def read_tags(self, shape: Layout, out: Struct) -> None:
        """The tagged fields behind a struct: count, then (tag, size, value) each."""
        count = self.read_varint()
        left = self.declared_end - self.position
        if count * 2 > left:
            raise DecodeError(f"{count} tagged fields do not fit into {left} bytes", self.position)
        self.spend(4 * count)  # a tag, its place among those seen, its bytes, the pair of both
        seen: set[int] = set()
        unknown: list[tuple[int, bytes]] = []
        for _ in range(count):
            tag = self.read_varint()
            if tag in seen:
                raise DecodeError(f"tag {tag} occurs twice", self.position)
            seen.add(tag)
            size = self.read_varint()
            field = shape.tagged.get(tag)
            if field is None:
                content = self.take(size)
                if UNKNOWN_TAGS not in self.omitted:
                    unknown.append((tag, bytes(content)))
                continue
            try:
                out[field.name] = self.read_tagged(field, size)
            except DecodeError as error:
                raise _inside(error, field.name, out) from None
        if unknown:
            out[UNKNOWN_TAGS] = tuple(unknown)

    def read_tagged(self, field: Field, size: int) -> object:
        if size > self.declared_end - self.position:
            raise DecodeError(f"a tagged field of {size} bytes does not fit", self.position)
        outer = self.end, self.declared_end
        stop = self.position + size
        self.end, self.declared_end = min(self.end, stop), stop
        if field.layout is not None and field.nullable and not field.array:
            # Behind a tag, null is 0 and a struct follows 1; elsewhere they are -1 and 1.
            value: object = self.read_struct(field.layout) if self.read_varint() else None
        else:
            value = self.read_field(field)
        if self.position != stop:
            raise DecodeError(f"{stop - self.position} bytes too many in a tagged field", self.position)
        self.end, self.declared_end = outer
        return value

    def read_varint(self) -> int:
        """An unsigned varint of at most 32 bits."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value > 0xFFFFFFFF:
                    break
                return value
        raise DecodeError("a varint of more than 32 bits", self.position)

    def read_bytes(self, field: Field) -> bytes | None:
        if field.compact:
            size = self.read_varint() - 1
        else:
            size = self.fixed("h", 2) if field.kind == "string" else self.fixed("i", 4)
        if size < 0:
            self.check_null(field, size)
            return None
        return bytes(self.take(size))

    def check_null(self, field: Field, length: int) -> None:
        if length != -1:
            raise DecodeError(f"a length of {length}", self.position)
        if not field.nullable:
            raise DecodeError("null where null is not allowed", self.position)

    def fixed(self, code: str, size: int) -> Any:
        return struct.unpack(">" + code, self.take(size))[0]

    def take(self, size: int) -> memoryview:
        start = self.position
        if size > self.end - start:
            left = self.declared_end - start
            if size > left:
                raise DecodeError(f"{size} bytes are needed, {left} are left", start)
            raise _EndOfData(f"{size} bytes are needed, {self.end - start} were kept", start)
        self.position = start + size
        return self.data[start : start + size]

    def spend(self, values: int) -> None:
        self.budget -= values
        if self.budget < 0:
            raise DecodeError("more values than are allowed in one message", self.position)


def _inside(error: DecodeError, name: str, out: Struct) -> DecodeError:
    error.steps.append(name)
    if isinstance(error, _EndOfData):
        if error.partial is not None:
            out[name] = error.partial
        error.partial = out
    return error


def _read_string(reader: _Reader, field: Field) -> str | None:
    raw = reader.read_bytes(field)
    return None if raw is None else raw.decode("utf-8", "replace")


def _fixed(code: str, size: int) -> Callable[[_Reader, Field], object]:
    unpack = struct.Struct(">" + code).unpack

    def read(reader: _Reader, field: Field) -> object:
        return unpack(reader.take(size))[0]

    return read


_READERS: dict[str, Callable[[_Reader, Field], object]] = {
    "bool": lambda reader, field: reader.take(1)[0] != 0,
    "int8": _fixed("b", 1),
    "int16": _fixed("h", 2),
    "uint16": _fixed("H", 2),
    "int32": _fixed("i", 4),
    "uint32": _fixed("I", 4),
    "int64": _fixed("q", 8),
    "float64": _fixed("d", 8),
    "uuid": lambda reader, field: uuid.UUID(bytes=bytes(reader.take(16))),
    "string": _read_string,
    "bytes": _Reader.read_bytes,
    "records": _Reader.read_bytes,
}


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
    unknown = value.keys() - names - ({UNKNOWN_TAGS} if shape.flexible else set())
    if unknown:
        raise EncodeError(f"no field '{min(unknown)}' in this version")
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
            if content is None and field.layout is not None and not field.array:
                body += b"\0"  # as it is read
            else:
                _write_named(body, field, content)
            tagged[tag] = bytes(body)
    for tag, raw in value.get(UNKNOWN_TAGS, ()):
        if tag in shape.tagged or tag in tagged:
            raise EncodeError(f"tag {tag} occurs twice or is known by name")
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


UNSUPPORTED_VERSION = 35


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A decoded request; `client_id` None is null on the wire (or, in header 0, absent)."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body: Decoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A decoded response; `api_version` is the version that its body has, see `decode_response`."""

    api_key: int
    api_version: int
    correlation_id: int
    body: Decoded


def encode_request(
    api_key: int, api_version: int, correlation_id: int, client_id: str | None, body: Mapping[str, Any]
) -> bytes:
    """One request as it goes onto the wire, size included."""
    version = header_version(api_key, api_version, Direction.REQUEST)
    fields = {"request_api_key": api_key, "request_api_version": api_version, "correlation_id": correlation_id}
    header = fields if version == 0 else {**fields, "client_id": client_id}
    head = encode_layout(header_layout(Direction.REQUEST, version), header)
    return frame(head + encode(api_key, api_version, Direction.REQUEST, body))


def encode_response(api_key: int, api_version: int, correlation_id: int, body: Mapping[str, Any]) -> bytes:
    """One response as it goes onto the wire, size included."""
    version = header_version(api_key, api_version, Direction.RESPONSE)
    head = encode_layout(header_layout(Direction.RESPONSE, version), {"correlation_id": correlation_id})
    return frame(head + encode(api_key, api_version, Direction.RESPONSE, body))


def decode_request(message: bytes | memoryview, *, max_values: int = MAX_VALUES) -> Request:
    """Decode a request without its size. `UnknownMessage` where the table has no such api key or version."""
    if len(message) < 4:
        raise DecodeError("a request has at least 4 bytes", 0)
    api_key, api_version = struct.unpack_from(">hh", message)
    shape = header_layout(Direction.REQUEST, header_version(api_key, api_version, Direction.REQUEST))
    header = decode_layout(shape, message)
    return Request(
        api_key=api_key,
        api_version=api_version,
        correlation_id=header.value["correlation_id"],
        client_id=header.value.get("client_id"),
        body=decode(
            api_key, api_version, Direction.REQUEST, memoryview(message)[header.length :], max_values=max_values
        ),
    )


def decode_response(
    message: bytes | memoryview,
    api_key: int,
    api_version: int,
    *,
    max_values: int = MAX_VALUES,
    omitted: frozenset[str] = frozenset(),
) -> Response:
    """Decode a response without its size, given the api key and version of its request.

    A broker that does not know the version of an ApiVersions request answers UNSUPPORTED_VERSION in the layout of
    version 0 (KIP-511); `Response.api_version` is 0 then.
    """
    shape = header_layout(Direction.RESPONSE, header_version(api_key, api_version, Direction.RESPONSE))
    header = decode_layout(shape, message)
    body = memoryview(message)[header.length :]
    if api_key == API_VERSIONS and api_version > 0 and body[:2] == struct.pack(">h", UNSUPPORTED_VERSION):
        api_version = 0
    return Response(
        api_key=api_key,
        api_version=api_version,
        correlation_id=header.value["correlation_id"],
        body=decode(api_key, api_version, Direction.RESPONSE, body, max_values=max_values, omitted=omitted),
    )


SMALLEST_FRAME = 4
LARGEST_FRAME = 104_857_600
"""Kafka's own `socket.request.max.bytes`; a correlation id is the least that a message holds."""


class FrameSplitter:
    """Bytes in, in any pieces; whole frames out, without their size. Holds at most one frame and what came with it."""

    def __init__(self, largest: int = LARGEST_FRAME) -> None:
        self._largest = largest
        self._buffer = bytearray()

    @property
    def pending(self) -> bytes:
        """What has come of the next frame, its size included."""
        return bytes(self._buffer)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes and give the frames that they complete; `FrameError` on an impossible size."""
        self._buffer += data
        while len(self._buffer) >= 4:
            size = frame_size(self._buffer, self._largest)
            if len(self._buffer) < 4 + size:
                return
            frame = bytes(self._buffer[4 : 4 + size])
            del self._buffer[: 4 + size]
            yield frame


def frame_size(data: bytes | bytearray | memoryview, largest: int = LARGEST_FRAME) -> int:
    """The size in the first four bytes, or `FrameError`."""
    size: int = struct.unpack_from(">i", data)[0]
    if not SMALLEST_FRAME <= size <= largest:
        raise FrameError(size, largest)
    return size


def frame(message: bytes) -> bytes:
    """Put the size before a message."""
    return struct.pack(">i", len(message)) + message


__all__ = [
    "LARGEST_FRAME",
    "MAX_VALUES",
    "UNKNOWN_TAGS",
    "DecodeError",
    "Decoded",
    "Direction",
    "EncodeError",
    "Field",
    "FrameError",
    "FrameSplitter",
    "Layout",
    "LocalProtocolError",
    "ProtocolError",
    "RemoteProtocolError",
    "Request",
    "Response",
    "Struct",
    "Truncated",
    "UnknownMessage",
    "api_keys",
    "api_name",
    "api_versions",
    "data_layout",
    "decode",
    "decode_data",
    "decode_layout",
    "decode_request",
    "decode_response",
    "encode",
    "encode_data",
    "encode_layout",
    "encode_request",
    "encode_response",
    "frame",
    "frame_size",
    "header_layout",
    "header_version",
    "layout",
    "release_versions",
    "releases",
    "stable_versions",
    "stored_layout",
    "stored_name",
    "stored_topics",
]
