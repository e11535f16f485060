"""Routing policy from RTM_NEWRULE."""

import struct

import pytest

from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.rules import decode_rule, request_rules
from netdiag.linux.route import RoutingRule
from tests.linux.netlink.assembling import message, nla, u8, u16, u32


def body(
    family: int = 2, *, to: int = 0, of: int = 0, table: int = 0, action: int = 1, flags: int = 0, tos: int = 0
) -> bytes:
    return struct.pack("=BBBBBBBBI", family, to, of, tos, table, 0, 0, action, flags)


def test_the_request() -> None:
    assert request_rules() == message(34, bytes(12), flags=0x301, sequence=0)


def test_a_rule_with_every_condition() -> None:
    data = body(of=8, to=32, tos=16, flags=2) + b"".join(
        (
            nla(2, b"\x0a\0\0\0"),
            nla(1, b"\1\2\3\4"),
            nla(6, u32(500)),
            nla(15, u32(1000)),
            nla(10, u32(5)),
            nla(16, u32(0xFF)),
            nla(3, b"eth0\0"),
            nla(17, b"eth1\0"),
            nla(20, u32(5) + u32(6)),
            nla(22, u8(6)),
            nla(23, u16(7) + u16(7)),
            nla(24, u16(80) + u16(90)),
            nla(14, u32(0xFFFFFFFF)),
            nla(13, u32(3)),
            nla(21, u8(2)),
        )
    )
    assert decode_rule(memoryview(data)) == RoutingRule(
        family=4,
        priority=500,
        action="lookup",
        table=1000,
        from_prefix="10.0.0.0/8",
        to_prefix="1.2.3.4/32",
        details={
            "fwmark": "0x5",
            "fwmask": "0xff",
            "iif": "eth0",
            "oif": "eth1",
            "uid_start": 5,
            "uid_end": 6,
            "ipproto": "tcp",
            "sport": 7,
            "dport_start": 80,
            "dport_end": 90,
            "suppress_ifgroup": 3,
            "protocol": 2,
            "tos": "0x10",
            "not": None,
        },
    )


def test_goto_vrf_and_what_nobody_knows() -> None:
    assert decode_rule(body(action=2, flags=4) + nla(4, u32(900))) == RoutingRule(
        family=4, priority=0, action="goto", table=0, details={"goto": 900, "unresolved": None}
    )
    l3mdev = decode_rule(body(10, table=255) + nla(19, u8(1)) + nla(16, u32(0xFFFFFFFF)))
    assert l3mdev
    assert (l3mdev.family, l3mdev.table, l3mdev.details) == (6, 255, {"l3mdev": None})
    strange = decode_rule(body(action=99) + nla(200, b"\xab"))
    assert strange
    assert (strange.action, strange.details) == ("ACTION(99)", {"FRA/200": "ab"})


def test_a_source_of_no_bits_but_a_length() -> None:
    rule = decode_rule(body(of=8))
    assert rule
    assert rule.from_prefix == "0.0.0.0/8"


def test_rules_of_multicast_routing_are_none_of_ours() -> None:
    assert decode_rule(body(128)) is None


@pytest.mark.parametrize(
    "data", [b"", body() + nla(20, b"\0" * 7), body() + nla(23, b"\0"), body() + nla(6, b"\0" * 3)]
)
def test_sizes_that_lie_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_rule(data)
