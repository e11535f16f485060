"""Who answers, by its first bytes."""

import pytest

from netdiag.kafka.other_protocols import OtherProtocol, who_answers, who_answers_frame


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
