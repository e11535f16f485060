"""IP addresses from RTM_NEWADDR."""

import struct

import pytest

from netdiag.linux.address import InterfaceAddress
from netdiag.linux.netlink.addresses import decode_address, request_addresses
from netdiag.linux.netlink.attributes import Malformed
from tests.linux.netlink.assembling import message, nla, u32

V6 = bytes.fromhex("fd000000000000000000000000000001")


def body(family: int, length: int, *, flags: int = 0x80, scope: int = 0) -> bytes:
    return struct.pack("=BBBBI", family, length, flags, scope, 2)


def test_the_request() -> None:
    assert request_addresses() == message(22, bytes(8), flags=0x301, sequence=0)


def test_ipv4_has_both_attributes() -> None:
    data = body(2, 24) + nla(1, b"\x0a\0\0\1") + nla(2, b"\x0a\0\0\1") + nla(4, b"\x0a\0\0\xff") + nla(3, b"eth0:1\0")
    assert decode_address(data) == InterfaceAddress(
        ifindex=2, address="10.0.0.1", prefix_length=24, scope=0, broadcast="10.0.0.255", label="eth0:1", flags=0x80
    )


def test_the_other_end_of_a_point_to_point_link() -> None:
    v4 = decode_address(body(2, 32) + nla(1, b"\x0a\0\0\2") + nla(2, b"\x0a\0\0\1"))
    assert v4
    assert (v4.address, v4.peer) == ("10.0.0.1", "10.0.0.2")
    v6 = decode_address(body(10, 128) + nla(1, V6[:-1] + b"\2") + nla(2, V6))
    assert v6
    assert (v6.address, v6.peer) == ("fd00::1", "fd00::2")


def test_wide_flags_replace_the_narrow_ones() -> None:
    found = decode_address(body(10, 64, scope=253) + nla(1, V6) + nla(8, u32(0x382)))
    assert found == InterfaceAddress(ifindex=2, address="fd00::1", prefix_length=64, scope=253, flags=0x382)


def test_another_family_is_none_of_ours() -> None:
    assert decode_address(body(7, 0)) is None


@pytest.mark.parametrize("data", [b"", body(2, 24), body(2, 24) + nla(2, b"\1\2\3")])
def test_no_address_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_address(data)
