"""Encode and decode whole messages: header and body, with the versions that belong together."""

import struct
from collections.abc import Mapping
from typing import Any

from netdiag.kafka.protocol.errors import DecodeError
from netdiag.kafka.protocol.frames import frame
from netdiag.kafka.protocol.reader import MAX_VALUES, Decoded, decode, decode_layout
from netdiag.kafka.protocol.table import API_VERSIONS, Direction, header_layout, header_version
from netdiag.kafka.protocol.writer import encode, encode_layout
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
