"""Numbers of namespaces from RTM_NEWNSID."""

import struct

import pytest

from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.nsids import UNASSIGNED, decode_nsid, request_nsid, request_nsids
from tests.linux.netlink.assembling import message, nla, u32


def test_the_requests() -> None:
    assert request_nsid(9) == message(90, bytes(4) + nla(3, u32(9)), flags=1, sequence=0)
    assert request_nsids() == message(90, bytes(4), flags=0x301, sequence=0)


def test_the_answer() -> None:
    assert decode_nsid(memoryview(bytes(4) + nla(1, struct.pack("=i", 17)))) == 17
    assert decode_nsid(bytes(4) + nla(1, struct.pack("=i", -1))) == UNASSIGNED
    assert decode_nsid(bytes(4)) == UNASSIGNED


@pytest.mark.parametrize("data", [b"", bytes(4) + nla(1, b"\0\0\0"), bytes(4) + b"\1"])
def test_sizes_that_lie_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_nsid(data)
