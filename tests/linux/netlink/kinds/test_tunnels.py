"""IP in IP, GRE and ERSPAN."""

import pytest

from netdiag.linux.netlink.kinds.tunnels import GRE, GRE6, IP6TNL, IPIP, VTI
from netdiag.linux.netlink.readers import Fields, read_fields
from tests.linux.netlink.assembling import u8, u16, u32


@pytest.mark.parametrize(
    ("fields", "found", "details"),
    [
        (
            GRE,
            {1: u32(3), 2: b"\xb0\x00", 3: b"\x20\x00", 4: u8(0) * 3 + b"\7", 6: bytes(4), 7: b"\x0a\0\0\1", 10: u8(1)},
            {
                "link": 3,
                "iseq": True,
                "icsum": True,
                "ikey": "0.0.0.7",
                "local": "any",
                "remote": "10.0.0.1",
                "pmtudisc": True,
            },
        ),
        (
            GRE,
            {22: u8(2), 23: u8(1), 24: u16(10), 20: u32(5), 9: u8(0)},
            {"erspan_ver": 2, "erspan_dir": "egress", "erspan_hwid": "0xa", "fwmark": "0x5"},
        ),
        (
            GRE6,
            {12: b"\x01\x20\x00\x05", 13: u32(1)},
            {"tclass": "0x12", "flowlabel": "0x00005", "ip6_tnl_f_ign_encap_limit": True},
        ),
        (IPIP, {9: u8(41), 8: u16(1), 13: u16(16)}, {"proto": "ip6ip", "isatap": True, "prefixlen": 16}),
        (IPIP, {9: u8(0), 15: u16(1), 18: b"\x15\xb3"}, {"proto": "any", "encap_type": "fou", "encap_dport": 5555}),
        (
            IP6TNL,
            {9: u8(4), 2: bytes(15) + b"\1", 8: u32(0x40)},
            {"proto": "ipip6", "local": "::1", "ip6_tnl_f_allow_local_remote": True},
        ),
        (VTI, {2: bytes(4), 3: bytes(3) + b"\1", 4: bytes(4)}, {"ikey": "0.0.0.0", "okey": "0.0.0.1", "local": "any"}),
    ],
)
def test_details(fields: Fields, found: dict[int, bytes], details: dict[str, object]) -> None:
    assert read_fields(found, fields, where="", undecoded={}) == details
