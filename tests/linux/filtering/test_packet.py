"""Packets, and what is known of the bytes of their headers."""

from dataclasses import replace

import pytest

from netdiag.linux.filtering.packet import (
    Bits,
    ConnectionState,
    Packet,
    both,
    compare,
    header_bytes,
    joined,
    known,
    masked,
    negated,
    network_header,
    transport_header,
    unknown,
    within,
)


def test_what_was_dialled() -> None:
    answer = Packet(
        family=4,
        protocol="tcp",
        source="10.0.0.2",
        source_port=80,
        destination="10.0.0.1",
        destination_port=5,
        reply=True,
        original_destination="10.9.9.9",
        original_destination_port=8080,
    )
    dialled = answer.dialled
    assert (dialled.source, dialled.source_port) == ("10.0.0.1", 5)
    assert (dialled.destination, dialled.destination_port) == ("10.9.9.9", 8080)


def test_translated_is_what_has_another_origin() -> None:
    packet = Packet(
        family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2", original_destination="10.9.9.9"
    )
    assert (packet.destination_translated, packet.source_translated) == (True, False)


HALF = Bits(b"\x10", b"\xf0")


@pytest.mark.parametrize(
    ("operator", "other", "answer"),
    [
        ("==", b"\x15", None),
        ("==", b"\x25", False),
        ("!=", b"\x25", True),
        ("<", b"\x20", True),
        ("<", b"\x10", False),
        ("<", b"\x18", None),
        ("<=", b"\x1f", True),
        ("<=", b"\x0f", False),
        (">", b"\x0f", True),
        (">", b"\x1f", False),
        (">=", b"\x10", True),
        (">=", b"\x11", None),
        ("??", b"\x11", None),
    ],
)
def test_a_number_of_which_half_is_known(operator: str, other: bytes, answer: bool | None) -> None:
    assert compare(HALF, operator, other) is answer


def test_a_mask_makes_known_what_it_takes_away() -> None:
    assert masked(HALF, b"\xf0", b"\0") == known(b"\x10")
    assert masked(unknown(1), b"\0", b"\x07") == known(b"\x07")


def test_three_values() -> None:
    assert within(HALF, b"\x10", b"\x1f") is True
    assert within(HALF, b"\x12", b"\x1f") is None
    assert [both(None, False), both(None, True), both(True, True)] == [False, None, True]
    assert [negated(None, True), negated(True, True), negated(True, False)] == [None, False, True]
    assert joined([known(b"a"), unknown(1)]) == Bits(b"a\0", b"\xff\0")


PACKET = Packet(family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2", destination_port=80)


def test_ipv4() -> None:
    header = network_header(PACKET)
    assert len(header.value) == 20
    assert header_bytes(header, 9, 1) == known(b"\x06")
    assert header_bytes(header, 12, 8) == known(bytes([10, 0, 0, 1, 10, 0, 0, 2]))
    assert header_bytes(header, 8, 1) == unknown(1)
    assert header_bytes(header, 18, 4).known == b"\xff\xff\0\0"


def test_ipv6() -> None:
    header = network_header(replace(PACKET, family=6, source="fd00::1", destination="10.0.0.2"))
    assert len(header.value) == 40
    assert header_bytes(header, 8, 16).value[0] == 0xFD
    assert header_bytes(header, 24, 16) == unknown(16)


def test_transport() -> None:
    header = transport_header(PACKET)
    assert len(header.value) == 20
    assert header_bytes(header, 0, 4).known == b"\0\0\xff\xff"
    assert header_bytes(header, 13, 1).value == b"\x02"
    assert header_bytes(transport_header(replace(PACKET, state=ConnectionState.ESTABLISHED)), 13, 1) == unknown(1)
    assert header_bytes(transport_header(replace(PACKET, protocol="icmp")), 0, 1) == known(b"\x08")
    assert header_bytes(transport_header(replace(PACKET, protocol="icmpv6")), 0, 1) == known(b"\x80")
    assert header_bytes(transport_header(replace(PACKET, protocol="udp")), 2, 2) == known(b"\0\x50")
    assert transport_header(replace(PACKET, protocol="odd")) == unknown(20)
