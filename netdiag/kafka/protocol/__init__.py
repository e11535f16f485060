"""Kafka's wire protocol: one table of every message, a bounded reader and a writer for it.

    from netdiag.kafka import protocol as wire

    frame = wire.encode_request(3, 12, correlation_id=7, client_id="netdiag", body={"topics": ()})
    for message in wire.FrameSplitter(largest=1 << 20).feed(received_bytes):
        answer = wire.decode_response(message, api_key=3, api_version=12)
        answer.body.value["brokers"][0]["host"]

`decode`/`encode` work on bodies alone, `decode_layout`/`encode_layout` on any `Layout`; `codec` says what values look
like and how a truncated message is read. Bytes that are not what they should be raise `RemoteProtocolError` (a
`FrameError` or a `DecodeError` with offset and field path) and nothing else; wrong calls raise `LocalProtocolError`.
"""

from netdiag.kafka.protocol.codec import (
    LARGEST_FRAME,
    MAX_VALUES,
    UNKNOWN_TAGS,
    Decoded,
    FrameSplitter,
    Request,
    Response,
    Struct,
    Truncated,
    decode,
    decode_data,
    decode_layout,
    decode_request,
    decode_response,
    encode,
    encode_data,
    encode_layout,
    encode_request,
    encode_response,
    frame,
    frame_size,
)
from netdiag.kafka.protocol.table import (
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
)

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
]
