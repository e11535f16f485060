"""IP addresses from RTM_NEWADDR."""

import struct

import pytest

from netdiag.linux.netlink.addresses import (
    decode_address,
    decode_fdb_entry,
    decode_neighbour,
    request_addresses,
    request_fdb,
    request_neighbours,
    request_proxy_neighbours,
)
from netdiag.linux.netlink.messages import Malformed
from netdiag.linux.rtnetlink import FdbEntry, InterfaceAddress, Neighbour
from tests.linux.netlink.message_bytes import message, nla, u16, u32

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


def neighbours_body(family: int = 2, *, state: int = 0x02, flags: int = 0) -> bytes:
    return struct.pack("=BxHiHBB", family, 0, 4, state, flags, 1)


def test_the_requests_differ_by_one_flag() -> None:
    assert request_neighbours() == message(30, bytes(12), flags=0x301, sequence=0)
    assert request_proxy_neighbours() == message(30, bytes(10) + b"\x08\0", flags=0x301, sequence=0)


@pytest.mark.parametrize(
    ("state", "words"),
    [(0, ()), (0x02, ("REACHABLE",)), (0x20, ("FAILED",)), (0x80, ("PERMANENT",)), (0x50, ("PROBE", "NOARP"))],
)
def test_states(state: int, words: tuple[str, ...]) -> None:
    data = neighbours_body(state=state) + nla(1, b"\x0a\0\0\2") + nla(2, bytes.fromhex("0242ac110002"))
    assert decode_neighbour(data) == Neighbour(ifindex=4, address="10.0.0.2", lladdr="02:42:ac:11:00:02", states=words)


def test_a_router_and_a_proxied_address() -> None:
    router = decode_neighbour(neighbours_body(10, flags=0x80) + nla(1, bytes(15) + b"\1"))
    assert router == Neighbour(ifindex=4, address="::1", lladdr="", states=("REACHABLE",), router=True)
    proxied = decode_neighbour(neighbours_body(state=0, flags=0x08) + nla(1, b"\x0a\0\0\2"))
    assert proxied == Neighbour(ifindex=4, address="10.0.0.2", lladdr="", states=(), proxy=True)


def test_a_neighbour_through_a_tunnel() -> None:
    found = decode_neighbour(neighbours_body() + nla(1, b"\x0a\0\0\2") + nla(2, b"\x0a\0\0\3"))
    assert found == Neighbour(ifindex=4, address="10.0.0.2", lladdr="10.0.0.3", states=("REACHABLE",))


def test_neighbours_another_family_is_none_of_ours() -> None:
    assert decode_neighbour(neighbours_body(7)) is None


@pytest.mark.parametrize("data", [b"", neighbours_body(), neighbours_body() + nla(1, b"\1\2\3")])
def test_neighbours_no_address_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_neighbour(data)


MAC = bytes.fromhex("0242ac110002")


def forwarding_body(family: int = 7, *, state: int = 0x02, flags: int = 0) -> bytes:
    return struct.pack("=BxHiHBB", family, 0, 4, state, flags, 0)


def test_forwarding_the_request() -> None:
    assert request_fdb() == message(30, b"\x07" + bytes(11), flags=0x301, sequence=0)


def test_an_entry_of_a_bridge() -> None:
    data = forwarding_body(flags=0x14) + nla(2, MAC) + nla(9, u32(9)) + nla(5, u16(100)) + nla(15, u32(2))
    assert decode_fdb_entry(data) == FdbEntry(
        ifindex=4, lladdr="02:42:ac:11:00:02", master=9, vlan=100, flags=("extern_learn", "master", "locked")
    )


def test_a_remote_end_of_a_vxlan() -> None:
    data = forwarding_body(state=0x80, flags=0x02) + b"".join(
        (nla(2, bytes(6)), nla(1, b"\x0a\0\0\5"), nla(6, b"\x12\xb5"), nla(7, u32(8)), nla(8, u32(2)), nla(10, u32(3)))
    )
    assert decode_fdb_entry(data) == FdbEntry(
        ifindex=4,
        lladdr="00:00:00:00:00:00",
        destination="10.0.0.5",
        state="permanent",
        flags=("self",),
        details={"port": 4789, "vni": 8, "via": 2, "link_netnsid": 3},
    )


@pytest.mark.parametrize(("state", "name"), [(0x40, "static"), (0x04, "stale"), (0x02, ""), (0x20, "0x20")])
def test_forwarding_states(state: int, name: str) -> None:
    entry = decode_fdb_entry(forwarding_body(state=state) + nla(2, MAC))
    assert entry
    assert entry.state == name


def test_forwarding_another_family_is_none_of_ours() -> None:
    assert decode_fdb_entry(forwarding_body(2)) is None


@pytest.mark.parametrize("data", [b"", forwarding_body() + nla(9, b"\1\2\3"), forwarding_body() + nla(1, b"\1")])
def test_sizes_that_lie_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_fdb_entry(data)
