"""Bonds and their ports."""

from netdiag.linux.netlink.kinds.bond import BOND, BOND_PORT
from netdiag.linux.netlink.readers import read_fields
from tests.linux.netlink.assembling import nla, u8, u16, u32


def test_words_targets_and_aggregation() -> None:
    found = {
        1: u8(4),
        2: u32(7),
        8: nla(0, b"\x0a\0\0\1") + nla(1, b"\x0a\0\0\2"),
        9: u32(0),
        14: u8(1),
        23: nla(1, u16(3)) + nla(5, bytes.fromhex("0242ac110002")),
    }
    assert read_fields(found, BOND, where="", undecoded={}) == {
        "mode": "802.3ad",
        "active_slave": 7,
        "arp_ip_target": ["10.0.0.1", "10.0.0.2"],
        "arp_validate": None,
        "xmit_hash_policy": "layer3+4",
        "ad_info": {"aggregator": 3, "partner_mac": "02:42:ac:11:00:02"},
    }
    assert read_fields({9: u32(3)}, BOND, where="", undecoded={}) == {"arp_validate": "all"}


def test_a_port() -> None:
    found = {1: u8(1), 2: u8(2), 7: u8(0b101), 9: u32(0xFFFFFFFE)}
    assert read_fields(found, BOND_PORT, where="", undecoded={}) == {
        "state": "BACKUP",
        "mii_status": "DOWN",
        "ad_actor_oper_port_state": 5,
        "ad_actor_oper_port_state_str": ["active", "aggregating"],
        "prio": -2,
    }
