"""tun and tap."""

from netdiag.linux.netlink.kinds.tun import TUN
from netdiag.linux.netlink.readers import read_fields
from tests.linux.netlink.assembling import u8, u32


def test_details() -> None:
    found = {1: u32(1000), 3: u8(2), 6: u8(1), 7: u8(0), 8: u32(3)}
    assert read_fields(found, TUN, where="", undecoded={}) == {
        "user": 1000,
        "type": "tap",
        "persist": True,
        "multi_queue": False,
        "numqueues": 3,
    }
