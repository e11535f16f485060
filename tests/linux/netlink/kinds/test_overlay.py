"""vxlan and geneve."""

import pytest

from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.kinds.overlay import GENEVE, VXLAN
from netdiag.linux.netlink.readers import read_fields
from tests.linux.netlink.assembling import u8, u32


@pytest.mark.parametrize(
    ("found", "details"),
    [
        ({2: b"\x0a\0\0\1", 4: b"\x0a\0\0\2"}, {"remote": "10.0.0.1", "local": "10.0.0.2"}),
        ({2: b"\xef\1\1\1", 4: bytes(4)}, {"group": "239.1.1.1"}),
        ({16: b"\xff\x02" + bytes(13) + b"\1", 17: bytes(15) + b"\1"}, {"group6": "ff02::1", "local6": "::1"}),
        ({2: bytes(4), 3: u32(0), 6: u8(0), 9: u32(0), 26: bytes(4)}, {}),
        ({3: u32(7), 6: u8(16), 9: u32(5), 26: b"\0\0\1\0"}, {"link": 7, "tos": "0x10", "limit": 5, "label": "0x100"}),
        (
            {1: u32(42), 10: b"\x80\x00\xff\xff", 15: b"\x12\xb5"},
            {"id": 42, "port_range": {"low": 32768, "high": 65535}, "port": 4789},
        ),
    ],
)
def test_vxlan(found: dict[int, bytes], details: dict[str, object]) -> None:
    assert read_fields(found, VXLAN, where="", undecoded={}) == details


def test_geneve() -> None:
    found = {1: u32(9), 7: bytes(15) + b"\1", 6: b"", 13: u8(2)}
    assert read_fields(found, GENEVE, where="", undecoded={}) == {
        "id": 9,
        "remote6": "::1",
        "external": True,
        "df": "inherit",
    }


@pytest.mark.parametrize("found", [{10: b"\0"}, {2: b"\0"}, {4: b""}])
def test_sizes_that_lie_are_malformed(found: dict[int, bytes]) -> None:
    with pytest.raises(Malformed):
        read_fields(found, VXLAN, where="", undecoded={})
