"""Who answers, by its first bytes."""

import struct

import pytest

from netdiag.kafka.listeners import parse_zookeeper_connect
from netdiag.kafka.other_protocols import (
    Alive,
    FourLetterWord,
    NotAlive,
    OtherProtocol,
    SessionOpening,
    who_answers,
    who_answers_frame,
)


@pytest.mark.parametrize(
    ("first", "protocol", "words"),
    [
        (b"\x15\x03\x03\x00\x02\x02\x46", OtherProtocol.TLS, "a TLS alert"),
        (b"\x16\x03\x01\x00", OtherProtocol.TLS, "a TLS handshake"),
        (b"HTTP/1.1 400 Bad Request", OtherProtocol.TEXT, "HTTP"),
        (b"SSH-2.0-OpenSSH", OtherProtocol.TEXT, "SSH"),
        (b"-ERR unknown command", OtherProtocol.TEXT, "Redis"),
        (b"hello", OtherProtocol.TEXT, "text that starts with 'hell'"),
        (b"\xff\x00\x1b[", OtherProtocol.BINARY, "bytes that start with ff 00 1b 5b"),
        (b"", OtherProtocol.BINARY, "bytes that start with "),
    ],
)
def test_first_bytes(first: bytes, protocol: OtherProtocol, words: str) -> None:
    assert who_answers(first) == (protocol, words)


def test_frames() -> None:
    connect_response = bytes(4) + (30_000).to_bytes(4, "big") + bytes(8) + b"\x00\x00\x00\x10" + bytes(16) + b"\x00"
    assert who_answers_frame(connect_response, b"question") is OtherProtocol.ZOOKEEPER
    assert who_answers_frame(b"question", b"question") is OtherProtocol.ECHO
    assert who_answers_frame(b"something", b"question") is OtherProtocol.BINARY


SRVR = (
    b"Zookeeper version: 3.9.3-c26634f34490bb0ea7a09cc51e05ede3b4e320ee, built on 2024-10-17 23:21 UTC\n"
    b"Latency min/avg/max: 0/0.0/0\nReceived: 1\nSent: 0\nConnections: 1\nOutstanding: 0\nZxid: 0x0\n"
    b"Mode: standalone\nNode count: 5\n"
)
REFUSED = b"srvr is not executed because it is not in the whitelist.\n"
NOT_SERVING = b"This ZooKeeper instance is not currently serving requests\n"


def told(data: bytes, size: int) -> Alive | NotAlive | None:
    word = FourLetterWord()
    assert word.start() == b"srvr"
    for at in range(0, len(data), size):
        word.receive(data[at : at + size])
    word.closed()
    return word.outcome


@pytest.mark.parametrize("size", [1, 7, 4096])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (SRVR, Alive(said="ZooKeeper 3.9.3 answers, standalone", mode="standalone")),
        (REFUSED, Alive(said='it is alive, but "srvr" is not on its whitelist')),
        (NOT_SERVING, Alive(said="it is alive, but has no quorum", serves=False)),
        (b"", NotAlive(said="it closed without an answer", closed=True)),
        (b"Zookeeper", NotAlive(said="it closed within its answer")),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", NotAlive(said="something other than ZooKeeper answers")),
        (b"\0\0\0\x10" + bytes(16), NotAlive(said="something other than ZooKeeper answers")),
    ],
)
def test_words(data: bytes, expected: Alive | NotAlive, size: int) -> None:
    assert told(data, size) == expected


def test_an_endless_answer_ends() -> None:
    word = FourLetterWord()
    word.receive(b"Zookeeper version: " + b"x" * (1 << 20))
    assert isinstance(word.outcome, NotAlive)


def opened(data: bytes) -> Alive | NotAlive | None:
    opening = SessionOpening()
    assert len(opening.start()) == 4 + 28 + 16
    for byte in data:
        opening.receive(bytes([byte]))
    opening.closed()
    return opening.outcome


def test_sessions() -> None:
    response = struct.pack(">iiq", 0, 4000, 0x1000A) + struct.pack(">i", 16) + bytes(16)
    assert opened(struct.pack(">i", 36) + response) == Alive(said="it opens a session")
    assert opened(struct.pack(">i", 37) + response + b"\0") == Alive(said="it opens a session")
    assert isinstance(opened(struct.pack(">i", 36) + bytes(36)), NotAlive)
    assert isinstance(opened(b"HTTP/1.1"), NotAlive)
    assert opened(b"") == NotAlive(said="it closed without an answer", closed=True)
    assert SessionOpening().farewell() == b"\0\0\0\x08\0\0\0\x01\xff\xff\xff\xf5"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("zookeeper:2181", (("zookeeper", 2181),)),
        ("a:1, b ,[::1]:3,[fd00::2]/kafka/one", (("a", 1), ("b", 2181), ("::1", 3), ("fd00::2", 2181))),
        ("a:1,a:1", (("a", 1),)),
        (":1,a:x,a:0,a:70000,", ()),
        ("", ()),
    ],
)
def test_addresses(value: str, expected: tuple[tuple[str, int], ...]) -> None:
    assert parse_zookeeper_connect(value) == expected
