"""Connections that do not begin with Kafka, or never speak it."""

import struct

import pytest

from netdiag.traffic.engine.message import Spoken
from tests.traffic.engine.wire import ACK, RST, Wire, framed, metadata_request, metadata_response, request

HELLO_BODY = (
    b"\x03\x03" + bytes(32) + b"\0" + b"\0\x02\x13\x01" + b"\x01\0" + b"\0\x15"
    b"\0\0\0\x11\0\x0f\0\0\x0ckafka.intern"
)  # fmt: skip
HELLO = (
    b"\x16\x03\x01"
    + struct.pack(">H", len(HELLO_BODY) + 4)
    + b"\x01\0"
    + struct.pack(">H", len(HELLO_BODY))
    + HELLO_BODY
)
SMPP = bytes.fromhex("0000002f000000090000000000000001") + b"SMPP3TEST\0secret08\0SUBMIT1\0\0\x01\x01\0"
SMPP_RESPONSE = bytes.fromhex("00000015800000090000000000000001") + b"SMSC\0"


def losses(wire: Wire) -> dict[tuple[str | None, str], int]:
    return {(direction, loss.kind): loss.bytes for direction, loss in wire.dialogue.losses()}


def test_tls_on_a_plaintext_port_is_named_and_counted() -> None:
    wire = Wire()
    wire.open()
    wire.send(0, HELLO)
    wire.send(1, flags=RST | ACK)
    assert wire.finish() == []
    assert wire.dialogue.spoken is Spoken.TLS
    assert wire.dialogue.server_name == "kafka.intern"
    assert losses(wire) == {("request", "tls"): len(HELLO)}
    assert wire.dialogue.figures(1).rst


@pytest.mark.parametrize("snap", [None, 30])
def test_http_on_a_kafka_port(snap: int | None) -> None:
    wire = Wire(snap=snap)
    wire.open()
    wire.send(0, b"GET /metrics HTTP/1.1\r\nHost: kafka:9092\r\n\r\n")
    assert wire.finish() == []
    assert wire.dialogue.spoken is Spoken.HTTP
    assert wire.dialogue.client_side == 0


@pytest.mark.parametrize("snap", [None, 30])
@pytest.mark.parametrize("opened", [True, False])
def test_a_protocol_that_also_begins_with_four_bytes_of_length_is_refused(snap: int | None, opened: bool) -> None:
    wire = Wire(snap=snap)
    if opened:
        wire.open()
    for number in range(1, 9):
        wire.send(0, SMPP[:12] + struct.pack(">I", number) + SMPP[16:])
        wire.send(1, SMPP_RESPONSE[:12] + struct.pack(">I", number) + SMPP_RESPONSE[16:])
    assert wire.finish() == []
    assert wire.dialogue.spoken is Spoken.UNKNOWN
    assert {kind for _, kind in losses(wire)} <= {"other-protocol", "truncated"}


@pytest.mark.parametrize(
    "header",
    [
        b"PROXY TCP4 10.0.0.1 10.0.0.2 40000 9092\r\n",
        b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes(12),
    ],
)
def test_kafka_behind_a_proxy_header(header: bytes) -> None:
    wire = Wire()
    wire.open()
    wire.send(0, header + framed(metadata_request(1)))
    wire.send(1, framed(metadata_response(1)))
    assert wire.finish() == [metadata_request(1), metadata_response(1)]
    assert losses(wire) == {("request", "other-protocol"): len(header)}


def test_bare_tokens_behind_sasl_handshake_v0_are_no_messages() -> None:
    wire = Wire()
    wire.open()
    handshake = request(17, 0, 1, b"\0\x05PLAIN")
    answer = struct.pack(">ihih", 1, 0, 1, 5) + b"PLAIN"
    wire.send(0, framed(handshake))
    wire.send(1, framed(answer))
    wire.send(0, framed(b"\0user\0password"))
    wire.send(1, framed(b""))
    wire.send(0, framed(metadata_request(2)))
    wire.send(1, framed(metadata_response(2)))
    assert wire.finish() == [handshake, answer, metadata_request(2), metadata_response(2)]
    assert wire.dialogue.sasl_mechanism == "PLAIN"
    assert losses(wire) == {("request", "sasl"): 18, ("response", "sasl"): 4}


def test_gssapi_without_a_handshake() -> None:
    wire = Wire()
    wire.open()
    token = b"\x60\x20" + bytes(32)
    wire.send(0, framed(token))
    wire.send(1, framed(token))
    wire.send(0, framed(metadata_request(0)))
    wire.send(1, framed(metadata_response(0)))
    assert wire.finish() == [metadata_request(0), metadata_response(0)]
    assert wire.dialogue.spoken is Spoken.KAFKA


def test_who_asks_is_told_from_content_where_the_opening_was_not_captured() -> None:
    wire = Wire()
    wire.send(1, framed(metadata_request(1)))
    wire.send(0, framed(metadata_response(1)))
    assert wire.finish() == [metadata_request(1), metadata_response(1)]
    assert wire.dialogue.client_side == 1


def test_responses_only() -> None:
    wire = Wire()
    for number in range(10, 16):
        wire.lose(0, framed(metadata_request(number)))
        wire.send(1, framed(metadata_response(number, brokers=3)))
    assert wire.finish() == [metadata_response(number, 3) for number in range(10, 16)]
    assert wire.dialogue.client_side == 0


def test_a_banner_is_not_kafka() -> None:
    wire = Wire()
    wire.open()
    wire.send(1, b"220 mail.example ESMTP\r\n")
    wire.send(0, b"EHLO there\r\n")
    assert wire.finish() == []
    assert wire.dialogue.spoken is Spoken.UNKNOWN
