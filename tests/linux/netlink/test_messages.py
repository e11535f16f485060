"""Datagrams are taken apart within their bounds, and refusals say why."""

import errno
import struct

import pytest

from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.messages import (
    MessageType,
    Refusal,
    decode_refusal,
    messages,
    request,
    with_sequence,
)
from tests.linux.netlink.assembling import message, nla, u32


def test_a_datagram_of_several() -> None:
    data = message(16, b"abc", flags=2, sequence=9) + b"\0" + message(3, u32(0), flags=0x12, sequence=9)
    first, last = messages(data)
    assert (first.type, first.flags, first.sequence, bytes(first.payload)) == (16, 2, 9, b"abc")
    assert not first.interrupted
    assert last.interrupted
    assert last.type == MessageType.DONE


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\0" * 16, id="length 0, which would never end"),
        pytest.param(message(16, b"")[:-1], id="cut in the header"),
        pytest.param(message(16, b"abcd")[:-1], id="cut in the payload"),
        pytest.param(message(16, b"abcd") + b"x", id="a rest that is no message"),
    ],
)
def test_a_length_that_lies_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        list(messages(data))


def test_a_request_is_a_dump_unless_told_otherwise() -> None:
    asked = request(MessageType.GET_LINK, b"body", nla(29, u32(12)))
    assert asked == message(18, b"body" + nla(29, u32(12)), flags=0x301, sequence=0)
    assert with_sequence(asked, 77) == message(18, b"body" + nla(29, u32(12)), flags=0x301, sequence=77)
    assert request(90, b"body", flags=0) == message(90, b"body", flags=1, sequence=0)


ASKED = message(18, b"\0" * 16)


@pytest.mark.parametrize(
    ("kind", "flags", "payload", "refusal"),
    [
        (2, 0, struct.pack("=i", -1) + ASKED, Refusal(errno=errno.EPERM)),
        (2, 0, struct.pack("=i", 0) + ASKED[:16], Refusal(errno=0)),
        (
            2,
            0x200,
            struct.pack("=i", -22) + ASKED + nla(1, b"bad mask\0") + nla(2, u32(20)),
            Refusal(errno=22, message="bad mask", offset=20),
        ),
        (2, 0x300, struct.pack("=i", -95) + ASKED[:16] + nla(1, b"no\xff\0"), Refusal(errno=95, message="no\\xff")),
        (3, 0, struct.pack("=i", -16), Refusal(errno=16)),
        (3, 0x202, struct.pack("=i", -95) + nla(1, b"not here\0"), Refusal(errno=95, message="not here")),
        (3, 0, b"", Refusal(errno=0)),
    ],
)
def test_what_a_refusal_says(kind: int, flags: int, payload: bytes, refusal: Refusal) -> None:
    (said,) = messages(message(kind, payload, flags=flags))
    assert decode_refusal(said) == refusal


@pytest.mark.parametrize(
    ("flags", "payload"),
    [
        (0, b"\x01"),
        (0x200, struct.pack("=i", -1)),
        (0x200, struct.pack("=i", -1) + b"\xff" * 16),
        (0x300, struct.pack("=i", -1) + ASKED[:16] + b"\xff\xff\x01\x00"),
    ],
)
def test_a_refusal_that_lies_is_malformed(flags: int, payload: bytes) -> None:
    (said,) = messages(message(2, payload, flags=flags))
    with pytest.raises(Malformed):
        decode_refusal(said)
