"""Routes from RTM_NEWROUTE."""

import struct

import pytest

from netdiag.linux.netlink.messages import Malformed
from netdiag.linux.netlink.routes import decode_route, decode_routing_rule, request_routes, request_routing_rules
from netdiag.linux.rtnetlink import NextHop, Route, RoutingRule
from tests.linux.netlink.message_bytes import message, nla, u8, u16, u32

V4, V6 = 2, 10


def body(
    family: int, length: int, *, kind: int = 1, table: int = 254, scope: int = 0, flags: int = 0, of: int = 0
) -> bytes:
    return struct.pack("=BBBBBBBBI", family, length, of, 0, table, 3, scope, kind, flags)


def hop(gateway: bytes, *, ifindex: int = 2, weight: int = 0, flags: int = 0) -> bytes:
    inner = nla(5, gateway)
    return struct.pack("=HBBi", 8 + len(inner), flags, weight, ifindex) + inner


def test_the_request() -> None:
    assert request_routes() == message(26, bytes(12), flags=0x301, sequence=0)


def test_a_default_route() -> None:
    data = body(V4, 0, flags=16) + nla(15, u32(254)) + nla(5, b"\x0a\0\0\1") + nla(4, u32(2)) + nla(6, u32(100))
    assert decode_route(memoryview(data)) == Route(
        family=4,
        destination="0.0.0.0/0",
        table=254,
        type="unicast",
        scope=0,
        protocol=3,
        priority=100,
        hops=(NextHop(gateway="10.0.0.1", ifindex=2, flags=16),),
        flags=16,
    )


def test_several_hops() -> None:
    hops = hop(b"\x0a\0\0\1", weight=1) + hop(b"\x0a\0\0\2", ifindex=3, flags=1)
    route = decode_route(body(V4, 8) + nla(1, b"\1\0\0\0") + nla(9, hops))
    assert route
    assert route.destination == "1.0.0.0/8"
    assert route.hops == (
        NextHop(gateway="10.0.0.1", ifindex=2, weight=2),
        NextHop(gateway="10.0.0.2", ifindex=3, weight=1, flags=1),
    )


def test_a_gateway_of_the_other_family_metrics_and_details() -> None:
    metrics = nla(2, u32(1400)) + nla(4, u32(800)) + nla(16, b"reno\0") + nla(12, u32(1))
    via = u16(V6) + bytes.fromhex("fd000000000000000000000000000009")
    route = decode_route(body(V4, 8) + nla(18, via) + nla(8, metrics) + nla(30, u32(7)) + nla(20, u8(0)))
    assert route
    assert route.hops == (NextHop(gateway="fd00::9", ifindex=None),)
    assert route.metrics == {"mtu": 1400, "rtt": 100, "congestion": "reno", "features": ["ecn"]}
    assert route.details == {"nhid": 7, "pref": "medium"}


def test_no_hop_a_wide_table_and_a_source() -> None:
    route = decode_route(
        body(V6, 64, kind=6, of=64, table=252) + nla(2, bytes(16)) + nla(15, u32(1000)) + nla(7, bytes(16))
    )
    assert route == Route(
        family=6,
        destination="::/64",
        table=1000,
        type="blackhole",
        scope=0,
        protocol=3,
        from_prefix="::/64",
        source="::",
    )


def test_another_family_is_none_of_ours_and_another_type_is_told() -> None:
    assert decode_route(body(28, 20)) is None
    route = decode_route(body(V4, 0, kind=77))
    assert route
    assert route.type == "TYPE(77)"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        body(V4, 8) + nla(1, b"\1\2\3"),
        body(V4, 8) + nla(9, b"\0" * 8),
        body(V4, 8) + nla(9, hop(b"\x0a\0\0\1")[:-1]),
        body(V4, 8) + nla(9, b"\xff\xff" + bytes(6)),
        body(V4, 8) + nla(9, hop(b"\x0a\0\0\1") + b"\0\0\0"),
    ],
)
def test_lengths_that_lie_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_route(data)


def rules_body(
    family: int = 2, *, to: int = 0, of: int = 0, table: int = 0, action: int = 1, flags: int = 0, tos: int = 0
) -> bytes:
    return struct.pack("=BBBBBBBBI", family, to, of, tos, table, 0, 0, action, flags)


def test_rules_the_request() -> None:
    assert request_routing_rules() == message(34, bytes(12), flags=0x301, sequence=0)


def test_a_rule_with_every_condition() -> None:
    data = rules_body(of=8, to=32, tos=16, flags=2) + b"".join(
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
    assert decode_routing_rule(memoryview(data)) == RoutingRule(
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
    assert decode_routing_rule(rules_body(action=2, flags=4) + nla(4, u32(900))) == RoutingRule(
        family=4, priority=0, action="goto", table=0, details={"goto": 900, "unresolved": None}
    )
    l3mdev = decode_routing_rule(rules_body(10, table=255) + nla(19, u8(1)) + nla(16, u32(0xFFFFFFFF)))
    assert l3mdev
    assert (l3mdev.family, l3mdev.table, l3mdev.details) == (6, 255, {"l3mdev": None})
    strange = decode_routing_rule(rules_body(action=99) + nla(200, b"\xab"))
    assert strange
    assert (strange.action, strange.details) == ("ACTION(99)", {"FRA/200": "ab"})


def test_a_source_of_no_bits_but_a_length() -> None:
    rule = decode_routing_rule(rules_body(of=8))
    assert rule
    assert rule.from_prefix == "0.0.0.0/8"


def test_rules_of_multicast_routing_are_none_of_ours() -> None:
    assert decode_routing_rule(rules_body(128)) is None


@pytest.mark.parametrize(
    "data", [b"", rules_body() + nla(20, b"\0" * 7), rules_body() + nla(23, b"\0"), rules_body() + nla(6, b"\0" * 3)]
)
def test_sizes_that_lie_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_routing_rule(data)
