"""Read the header of a request or a response, from as many of its bytes as a capture kept.

A header is read even where the body behind it cannot be: of an unknown api key or version the first eight bytes mean
the same, and the client id stands at the same place since Kafka 0.8. Sources: RequestHeader.json, ResponseHeader.json,
KIP-482 (tagged fields), KIP-511 (an ApiVersions response always has header 0).
"""

from struct import Struct
from typing import NamedTuple

from netdiag.kafka import protocol as wire
from netdiag.kafka.protocol.table import API_VERSIONS, CONTROLLED_SHUTDOWN

_FIXED = Struct(">hhih").unpack_from
_KEY = Struct(">h").unpack_from
_CORRELATION = Struct(">i").unpack_from


class RequestHeader(NamedTuple):
    """What is there of a request header; None where the bytes end before.

    `body`: where the body begins in the head, None where that is not known (unknown key or version) or not there.
    `known`: whether the table has a layout for the body.
    """

    api_key: int | None
    api_version: int | None
    correlation_id: int | None
    client_id: str | None
    body: int | None
    known: bool


class ResponseHeader(NamedTuple):
    """What is there of a response header; `body` as in `RequestHeader`."""

    correlation_id: int | None
    body: int | None


def request_header(head: bytes, size: int) -> RequestHeader:
    """Read the header of a request of `size` bytes, of which `head` was kept (both without the size field)."""
    if len(head) < 10:
        return _short_request(head, size)
    api_key, api_version, correlation_id, length = _FIXED(head)
    version = header_version(api_key, api_version)
    if version == 0:
        return RequestHeader(api_key, api_version, correlation_id, None, 8, True)
    end = 10 + length if length > 0 else 10
    client_id = None
    if length >= 0 and end <= len(head):
        client_id = head[10:end].decode("utf-8", "replace")
    if version is None or length < -1 or end > len(head):
        return RequestHeader(api_key, api_version, correlation_id, client_id, None, version is not None)
    body = end if version == 1 else _behind_tags(head, end)
    return RequestHeader(api_key, api_version, correlation_id, client_id, body, True)


def response_header(head: bytes, api_key: int, api_version: int) -> ResponseHeader:
    """Read the header of the response to a request of this api key and version."""
    if len(head) < 4:
        return ResponseHeader(None, None)
    correlation_id: int = _CORRELATION(head)[0]
    version = header_version(api_key, api_version)
    if version is None:
        return ResponseHeader(correlation_id, None)
    if version < 2 or api_key == API_VERSIONS:
        return ResponseHeader(correlation_id, 4)
    return ResponseHeader(correlation_id, _behind_tags(head, 4))


def _short_request(head: bytes, size: int) -> RequestHeader:
    api_key = _KEY(head)[0] if len(head) >= 2 else None
    api_version = _KEY(head, 2)[0] if len(head) >= 4 else None
    correlation_id = _CORRELATION(head, 4)[0] if len(head) >= 8 else None
    known = api_key is not None and api_version is not None and header_version(api_key, api_version) is not None
    whole = len(head) >= 8 and size >= 8 and api_key == CONTROLLED_SHUTDOWN and api_version == 0
    return RequestHeader(api_key, api_version, correlation_id, None, 8 if whole else None, known)


_VERSIONS: dict[tuple[int, int], int | None] = {}
_MOST_VERSIONS = 4096


def header_version(api_key: int, api_version: int) -> int | None:
    """The version of the request header; None where the table does not have the message."""
    key = (api_key, api_version)
    try:
        return _VERSIONS[key]
    except KeyError:
        pass
    try:
        version: int | None = wire.header_version(api_key, api_version, wire.Direction.REQUEST)
    except wire.UnknownMessage:
        version = None
    if len(_VERSIONS) < _MOST_VERSIONS:
        _VERSIONS[key] = version
    return version


def _behind_tags(head: bytes, position: int) -> int | None:
    """Where the tagged fields that begin here end; None where they do not end in the head."""
    if position < len(head) and head[position] == 0:
        return position + 1
    found = _varint(head, position)
    if found is None:
        return None
    count, position = found
    for _ in range(min(count, len(head))):
        tag = _varint(head, position)
        size = None if tag is None else _varint(head, tag[1])
        if size is None:
            return None
        position = size[1] + size[0]
        if position > len(head):
            return None
    return position if count <= len(head) else None


def _varint(head: bytes, position: int) -> tuple[int, int] | None:
    """An unsigned varint of at most five bytes, with where it ends."""
    value = 0
    for index, byte in enumerate(head[position : position + 5]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, position + index + 1
    return None
