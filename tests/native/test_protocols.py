"""Connections that do not begin with Kafka, or never speak it."""

import struct
from typing import Any

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.tables import table
from tests.native.conversations import metadata_request, metadata_response
from tests.native.packets import ACK, FIN, RST, TcpConnection
from tests.native.reading import Rows, rows_of_packets
from tests.native.test_delivery import losses, messages

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
SNAP = 84


def connection(rows: Rows) -> Any:
    """The only one."""
    (row,) = rows["connections"]
    return row


def framed(token: bytes) -> bytes:
    """Bytes behind their size."""
    return struct.pack(">i", len(token)) + token


@pytest.mark.parametrize(
    ("first", "protocol"),
    [
        (metadata_request(1), "kafka"),
        (SMPP, "unknown"),
        (b"GET /metrics HTTP/1.1\r\nHost: kafka:9092\r\n\r\n", "http"),
        (HELLO, "tls"),
        (b"ruok", "zookeeper"),
        (bytes.fromhex("0000002d" + "00" * 20 + "00000000" + "00000010" + "00" * 17), "zookeeper"),
        (b"SSH-2.0-OpenSSH\r\n", "unknown"),
        (b"", "none"),
    ],
)
def test_what_is_spoken_is_told_by_the_first_bytes(first: bytes, protocol: str) -> None:
    talk = TcpConnection().open()
    rows = rows_of_packets((talk.ask(first) if first else talk).close().packets)
    assert connection(rows).protocol == protocol
    assert connection(rows).client == "10.0.0.1:40000"
    (told,) = (column.doc for column in table("connections").columns if column.name == "protocol")
    assert protocol in told
    if protocol != "kafka":
        assert rows["exchanges"] == []
        assert sum(losses(rows).values()) == len(first)


def test_tls_on_a_plaintext_port_is_named_and_counted() -> None:
    talk = TcpConnection().open().ask(HELLO)
    rows = rows_of_packets(talk.send(1, flags=RST | ACK).packets)
    assert (connection(rows).server_name, connection(rows).ending) == ("kafka.intern", "reset-by-broker")
    assert losses(rows) == {("request", "tls"): len(HELLO)}


@pytest.mark.parametrize("snap", [None, SNAP])
@pytest.mark.parametrize("opened", [True, False])
def test_a_protocol_that_also_begins_with_four_bytes_of_length_is_refused(snap: int | None, opened: bool) -> None:
    talk = TcpConnection(snap=snap)
    if opened:
        talk.open()
    for number in range(1, 9):
        talk.ask(SMPP[:12] + struct.pack(">I", number) + SMPP[16:])
        talk.answer(SMPP_RESPONSE[:12] + struct.pack(">I", number) + SMPP_RESPONSE[16:])
    rows = rows_of_packets(talk.packets)
    assert rows["exchanges"] == []
    assert connection(rows).protocol == "unknown"
    assert {kind for _, kind in losses(rows)} <= {"other-protocol", "truncated"}


@pytest.mark.parametrize(
    "header",
    [
        b"PROXY TCP4 10.0.0.1 10.0.0.2 40000 9092\r\n",
        b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes(12),
    ],
)
def test_kafka_behind_a_proxy_header(header: bytes) -> None:
    rows = rows_of_packets(
        TcpConnection().open().ask(header + metadata_request(1)).answer(metadata_response(1)).packets
    )
    assert [row.outcome for row in rows["exchanges"]] == ["answered"]
    assert losses(rows) == {("request", "other-protocol"): len(header)}


def test_bare_tokens_behind_sasl_handshake_v0_are_no_messages() -> None:
    talk = TcpConnection().open()
    talk.ask(wire.encode_request(17, 0, 1, "app", {"mechanism": "PLAIN"}))
    talk.answer(wire.encode_response(17, 0, 1, {"mechanisms": ["PLAIN"]}))
    talk.ask(framed(b"\0user\0password")).answer(framed(b""))
    rows = rows_of_packets(talk.ask(metadata_request(2)).answer(metadata_response(2)).packets)
    assert [(row.api_key, row.outcome) for row in rows["exchanges"]] == [(17, "answered"), (3, "answered")]
    assert connection(rows).sasl_mechanism == "PLAIN"
    assert losses(rows) == {("request", "sasl"): 18, ("response", "sasl"): 4}


def test_gssapi_without_a_handshake() -> None:
    token = framed(b"\x60\x20" + bytes(32))
    talk = TcpConnection().open().ask(token).answer(token).ask(metadata_request(0)).answer(metadata_response(0))
    rows = rows_of_packets(talk.packets)
    assert [number for number, _ in messages(rows)[0]] == [0]
    assert [row.outcome for row in rows["exchanges"]] == ["answered"]
    assert connection(rows).protocol == "kafka"


def test_a_banner_is_not_kafka() -> None:
    rows = rows_of_packets(TcpConnection().open().answer(b"220 mail.example ESMTP\r\n").ask(b"EHLO there\r\n").packets)
    assert rows["exchanges"] == []
    assert connection(rows).protocol == "unknown"


def test_a_connection_without_payload_speaks_nothing() -> None:
    talk = TcpConnection().open().send(0, flags=FIN | ACK).send(1, flags=FIN | ACK).send(0)
    rows = rows_of_packets(talk.packets)
    assert (connection(rows).protocol, connection(rows).ending, connection(rows).digest) == ("none", "fin", None)
    assert rows["losses"] == []
