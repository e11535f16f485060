"""Forwarding entries from RTM_NEWNEIGH of AF_BRIDGE."""

import struct

import pytest

from netdiag.linux.neighbour import FdbEntry
from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.forwarding import decode_forwarding, request_forwarding
from tests.linux.netlink.assembling import message, nla, u16, u32

MAC = bytes.fromhex("0242ac110002")


def body(family: int = 7, *, state: int = 0x02, flags: int = 0) -> bytes:
    return struct.pack("=BxHiHBB", family, 0, 4, state, flags, 0)


def test_the_request() -> None:
    assert request_forwarding() == message(30, b"\x07" + bytes(11), flags=0x301, sequence=0)


def test_an_entry_of_a_bridge() -> None:
    data = body(flags=0x14) + nla(2, MAC) + nla(9, u32(9)) + nla(5, u16(100)) + nla(15, u32(2))
    assert decode_forwarding(data) == FdbEntry(
        ifindex=4, lladdr="02:42:ac:11:00:02", master=9, vlan=100, flags=("extern_learn", "master", "locked")
    )


def test_a_remote_end_of_a_vxlan() -> None:
    data = body(state=0x80, flags=0x02) + b"".join(
        (nla(2, bytes(6)), nla(1, b"\x0a\0\0\5"), nla(6, b"\x12\xb5"), nla(7, u32(8)), nla(8, u32(2)), nla(10, u32(3)))
    )
    assert decode_forwarding(data) == FdbEntry(
        ifindex=4,
        lladdr="00:00:00:00:00:00",
        destination="10.0.0.5",
        state="permanent",
        flags=("self",),
        details={"port": 4789, "vni": 8, "via": 2, "link_netnsid": 3},
    )


@pytest.mark.parametrize(("state", "name"), [(0x40, "static"), (0x04, "stale"), (0x02, ""), (0x20, "0x20")])
def test_states(state: int, name: str) -> None:
    entry = decode_forwarding(body(state=state) + nla(2, MAC))
    assert entry
    assert entry.state == name


def test_another_family_is_none_of_ours() -> None:
    assert decode_forwarding(body(2)) is None


@pytest.mark.parametrize("data", [b"", body() + nla(9, b"\1\2\3"), body() + nla(1, b"\1")])
def test_sizes_that_lie_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_forwarding(data)
