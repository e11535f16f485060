"""Values as nft writes them, and fields of protocol headers."""

import sys

import pytest

from netdiag.linux.nftables.datatypes import (
    BY_NAME,
    duration,
    field_beginning,
    field_within,
    fields_at,
    parts,
    quoted,
    type_name,
    value_text,
)


@pytest.mark.parametrize(
    ("kind", "data", "text"),
    [
        ("ipv4_addr", bytes([10, 0, 0, 1]), "10.0.0.1"),
        ("ipv6_addr", bytes(15) + b"\1", "::1"),
        ("inet_service", b"\0\x50", "80"),
        ("inet_proto", b"\6", "tcp"),
        ("ether_addr", b"\2\0\0\0\0\1", "02:00:00:00:00:01"),
        ("ifname", b"eth0".ljust(16, b"\0"), '"eth0"'),
        ("mark", (5).to_bytes(4, sys.byteorder), "0x00000005"),
        ("ct_state", (6).to_bytes(4, sys.byteorder), "established,related"),
        ("icmp_type", b"\x08", "echo-request"),
        ("classid", (0x10010).to_bytes(4, sys.byteorder), "1:10"),
    ],
)
def test_values(kind: str, data: bytes, text: str) -> None:
    assert value_text(BY_NAME[kind], data) == text


def test_types_of_several_parts() -> None:
    assert [one.name for one in parts(7 << 6 | 13)] == ["ipv4_addr", "inet_service"]
    assert type_name(7 << 6 | 13) == "ipv4_addr . inet_service"
    assert type_name(63) == "type63"


def test_words() -> None:
    assert duration(90_061_001) == "1d1h1m1s1ms"
    assert quoted(b"a\xff\0x") == '"a\udcff"'
    assert value_text(BY_NAME["iface_index"], (3).to_bytes(4, sys.byteorder), names=lambda index: f"n{index}") == '"n3"'


def test_one_field_or_several_in_a_row() -> None:
    assert [one.name for one in fields_at("tcp", 16, 16)] == ["dport"]
    assert [one.name for one in fields_at("ip", 96, 64)] == ["saddr", "daddr"]
    assert fields_at("tcp", 17, 16) == ()
    assert fields_at("odd", 0, 8) == ()


def test_parts_of_bytes_and_beginnings_of_addresses() -> None:
    within = field_within("ip", 8, 8, 0xFC)
    assert within is not None
    assert within.name == "dscp"
    assert field_within("ip", 8, 8, 0xF8) is None
    longer = field_beginning("ip", 96, 8)
    assert longer is not None
    assert longer.name == "saddr"
