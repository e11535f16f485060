"""Tracked connections from their messages."""

import random
import struct
from contextlib import suppress

import pytest

from netdiag.errors import NetdiagError
from netdiag.linux.conntrack import ConnectionTuple, decode_connection, get_connections
from netdiag.linux.netlink.nfnetlink import Malformed
from tests.linux.nftables.message_bytes import attribute, number, payload


def ends(kind: int, source: str, destination: str, source_port: int, destination_port: int, protocol: int = 6) -> bytes:
    addresses = b"".join(
        attribute(at, bytes(map(int, one.split(".")))) for at, one in enumerate((source, destination), 1)
    )
    ports = b"".join(attribute(at, struct.pack("!H", one)) for at, one in enumerate((source_port, destination_port), 2))
    return attribute(kind, attribute(1, addresses) + attribute(2, attribute(1, bytes([protocol])) + ports))


TRANSLATED = payload(
    2,
    ends(1, "10.0.0.1", "10.0.0.2", 5555, 9092),
    ends(2, "172.18.0.2", "172.18.0.1", 9092, 5555),
    number(3, 0x1E),
    attribute(4, attribute(1, attribute(1, b"\3"))),
    number(7, 100),
    number(8, 5),
    attribute(18, b"\0\7"),
)


def test_what_was_dialled_and_who_answers() -> None:
    found = decode_connection(TRANSLATED)
    assert found is not None
    assert found.original == ConnectionTuple(
        source="10.0.0.1", destination="10.0.0.2", source_port=5555, destination_port=9092
    )
    assert (found.reply.source, found.reply.source_port) == ("172.18.0.2", 9092)
    assert (found.destination_translated, found.source_translated) == (True, True)
    assert (found.protocol, found.state, found.zone, found.mark, found.timeout) == ("tcp", "ESTABLISHED", 7, 5, 100)
    assert (found.answered, found.assured) == (True, True)


def test_without_translation() -> None:
    found = decode_connection(payload(2, ends(1, "10.0.0.1", "10.0.0.2", 1, 2), ends(2, "10.0.0.2", "10.0.0.1", 2, 1)))
    assert found is not None
    assert (found.destination_translated, found.source_translated, found.state) == (False, False, "")


def test_others() -> None:
    assert decode_connection(payload(7)) is None
    with pytest.raises(Malformed):
        decode_connection(memoryview(b""))
    assert get_connections()[4:6] == struct.pack("=H", 0x101)


def test_bytes_of_any_kind_give_an_error_of_ours() -> None:
    chance = random.Random(1)
    for _ in range(2000):
        broken = bytearray(TRANSLATED)
        for _ in range(chance.randrange(1, 6)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        with suppress(NetdiagError):
            decode_connection(memoryview(broken[: chance.randrange(len(broken) + 1)]))
