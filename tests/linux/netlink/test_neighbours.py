"""Neighbours from RTM_NEWNEIGH."""

import struct

import pytest

from netdiag.linux.neighbour import Neighbour
from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.neighbours import decode_neighbour, request_neighbours, request_proxy_neighbours
from tests.linux.netlink.assembling import message, nla


def body(family: int = 2, *, state: int = 0x02, flags: int = 0) -> bytes:
    return struct.pack("=BxHiHBB", family, 0, 4, state, flags, 1)


def test_the_requests_differ_by_one_flag() -> None:
    assert request_neighbours() == message(30, bytes(12), flags=0x301, sequence=0)
    assert request_proxy_neighbours() == message(30, bytes(10) + b"\x08\0", flags=0x301, sequence=0)


@pytest.mark.parametrize(
    ("state", "words"),
    [(0, ()), (0x02, ("REACHABLE",)), (0x20, ("FAILED",)), (0x80, ("PERMANENT",)), (0x50, ("PROBE", "NOARP"))],
)
def test_states(state: int, words: tuple[str, ...]) -> None:
    data = body(state=state) + nla(1, b"\x0a\0\0\2") + nla(2, bytes.fromhex("0242ac110002"))
    assert decode_neighbour(data) == Neighbour(ifindex=4, address="10.0.0.2", lladdr="02:42:ac:11:00:02", states=words)


def test_a_router_and_a_proxied_address() -> None:
    router = decode_neighbour(body(10, flags=0x80) + nla(1, bytes(15) + b"\1"))
    assert router == Neighbour(ifindex=4, address="::1", lladdr="", states=("REACHABLE",), router=True)
    proxied = decode_neighbour(body(state=0, flags=0x08) + nla(1, b"\x0a\0\0\2"))
    assert proxied == Neighbour(ifindex=4, address="10.0.0.2", lladdr="", states=(), proxy=True)


def test_a_neighbour_through_a_tunnel() -> None:
    found = decode_neighbour(body() + nla(1, b"\x0a\0\0\2") + nla(2, b"\x0a\0\0\3"))
    assert found == Neighbour(ifindex=4, address="10.0.0.2", lladdr="10.0.0.3", states=("REACHABLE",))


def test_another_family_is_none_of_ours() -> None:
    assert decode_neighbour(body(7)) is None


@pytest.mark.parametrize("data", [b"", body(), body() + nla(1, b"\1\2\3")])
def test_no_address_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_neighbour(data)
