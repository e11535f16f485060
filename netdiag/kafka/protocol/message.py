"""Whole messages: header and body, with the versions that belong together, and the frames that a stream is cut into.

A frame is a size of four bytes and so many bytes of one message. A size that cannot be one is refused on its own four
bytes, before any of the frame is waited for or stored.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from netdiag.kafka.protocol.codec import MAX_VALUES, Decoded, decode, decode_layout, encode, encode_layout
from netdiag.kafka.protocol.table import API_VERSIONS, DecodeError, Direction, FrameError, header_layout, header_version
from netdiag.values import dataclass

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
    message: bytes | memoryview, api_key: int, api_version: int, *, max_values: int = MAX_VALUES
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
        body=decode(api_key, api_version, Direction.RESPONSE, body, max_values=max_values),
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
