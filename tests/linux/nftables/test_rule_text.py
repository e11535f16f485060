"""Rules, statements and conditions in the words of nft."""

import random
import struct
from contextlib import suppress
from dataclasses import replace

import pytest

from netdiag.errors import NetdiagError
from netdiag.linux.nftables.messages import decode_expressions
from netdiag.linux.nftables.rule_text import (
    Load,
    compared,
    connection_limit_text,
    inner_text,
    limit_text,
    load,
    load_kind,
    load_words,
    log_text,
    nft_text,
    object_reference_text,
    queue_text,
    quota_text,
    range_flags_text,
    ranged,
    reject_text,
    set_words,
    synproxy_text,
    target_text,
)
from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import ElementSet
from tests.linux.nftables.message_bytes import COUNTED, TCP_PORT_80, attribute, data, expression, number, verdict, word

PORTS = ElementSet(name="__set0", key_type="inet_service", elements=(("80", None), ("90", None)), anonymous=True)
WAYS = ElementSet(
    name="ways", key_type="inet_service", data_type="verdict", elements=(("80", "drop"),), anonymous=False
)
LOOKUP = expression("lookup", word(1, "__set0"), number(2, 1))
VMAP = expression("lookup", word(1, "ways"), number(2, 1), number(3, 0))


def text(*parts: bytes, family: str = "ip", comment: str = "") -> str:
    found = decode_expressions(memoryview(b"".join(parts)), family)[0]
    return nft_text(found, family=family, sets=(PORTS, WAYS), comment=comment)


def test_what_only_names_the_header_is_left_out() -> None:
    assert text(*TCP_PORT_80, COUNTED, verdict(1), comment="x") == 'tcp dport 80 counter accept comment "x"'
    assert text(*TCP_PORT_80[:2], verdict(1)) == "meta l4proto tcp accept"


def test_sets_and_maps() -> None:
    assert text(*TCP_PORT_80[:3], LOOKUP, verdict(0)) == "tcp dport { 80, 90 } drop"
    assert text(*TCP_PORT_80[:3], VMAP) == "tcp dport vmap @ways"
    assert set_words(WAYS) == "{ 80 : drop }"


def test_translations() -> None:
    address = expression("immediate", number(1, 1), data(2, bytes([10, 0, 0, 5])))
    port = expression("immediate", number(1, 2), data(2, struct.pack("!H", 8080)))
    nat = expression("nat", number(1, 1), number(2, 2), number(3, 1), number(5, 2))
    assert text(*TCP_PORT_80, address, port, nat) == "tcp dport 80 dnat to 10.0.0.5:8080"
    assert text(*TCP_PORT_80, address, port, nat, family="inet") == "tcp dport 80 dnat ip to 10.0.0.5:8080"


def test_what_is_not_known_is_named() -> None:
    assert text(expression("mystery"), verdict(1)) == "[mystery] accept"
    assert text(expression("match", word(1, "comment"), attribute(3, b"x"))) == 'xt match "comment"'


def test_expressions_of_any_kind_have_a_text() -> None:
    chance = random.Random(11)
    whole = b"".join((*TCP_PORT_80, COUNTED, LOOKUP, VMAP, verdict(-3, "X")))
    for _ in range(3000):
        broken = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        with suppress(NetdiagError):
            text(bytes(broken), family=chance.choice(("ip", "ip6", "inet", "bridge", "arp", "netdev")))


def test_limits_and_amounts() -> None:
    assert limit_text({"rate": 10, "unit": 1, "burst": 5, "type": "packets"}) == "limit rate 10/second"
    fields: dict[str, Detail] = {"rate": 1024, "unit": 60, "burst": 512, "type": "bytes", "flags": 1}
    assert limit_text(fields) == "limit rate over 1 kbytes/minute burst 512 bytes"
    assert quota_text({"bytes": 10 << 20, "flags": 1}) == "quota over 10 mbytes"
    assert connection_limit_text({"count": 3}) == "ct count 3"


def test_logs() -> None:
    assert log_text({"prefix": "x ", "level": 6, "flags": 3}) == 'log prefix "x " level info flags tcp sequence,options'
    assert log_text({"group": 5, "snaplen": 10, "threshold": 2}) == "log group 5 snaplen 10 queue-threshold 2"
    assert log_text({"flags": 0x2F}) == "log flags all"


def test_rejections_that_go_without_saying() -> None:
    assert reject_text({"type": "icmp", "code": 3, "kind": "icmp port-unreachable"}, "ip") == "reject"
    assert reject_text({"type": "icmpx", "code": 1}, "inet") == "reject"
    assert reject_text({"type": "tcp reset", "kind": "tcp reset"}, "ip") == "reject with tcp reset"


def test_targets_of_translations() -> None:
    assert target_text("10.0.0.1", "10.0.0.9", "80", "90", brackets=False) == "10.0.0.1-10.0.0.9:80-90"
    assert target_text("fd00::1", "fd00::1", "80", "80", brackets=True) == "[fd00::1]:80"
    assert target_text("", "", "80", "", brackets=True) == ":80"
    assert range_flags_text({"range_flags": 12}) == "random,persistent"


def test_the_rest() -> None:
    assert queue_text({"num": 3, "total": 3, "flags": 1}) == "queue flags bypass to 3-5"
    assert object_reference_text({"type": "ct helper", "name": "f"}) == 'ct helper set "f"'
    assert inner_text([["limit", {"rate": 1, "unit": 1}], ["counter", {}]]) == "limit rate 1/second counter"
    assert synproxy_text({"flags": 3, "mss": 1460, "wscale": 7}) == "synproxy mss 1460 wscale 7"


@pytest.mark.parametrize(
    ("name", "fields", "words", "kind"),
    [
        ("meta", {"key": "iifname"}, "iifname", "ifname"),
        ("meta", {"key": "mark"}, "meta mark", "mark"),
        ("ct", {"key": "state"}, "ct state", "ct_state"),
        ("ct", {"key": "dst_ip", "direction": "original"}, "ct original ip daddr", "ipv4_addr"),
        ("ct", {"key": "proto_src", "direction": "reply"}, "ct reply proto-src", "inet_service"),
        ("ct", {"key": "proto_dst", "direction": "original"}, "ct original proto-dst", "inet_service"),
        ("fib", {"flags": 9, "result": "oif"}, "fib saddr . iif oif", "iface_index"),
        ("fib", {"flags": 32 | 2, "result": "oif"}, "fib daddr oif", "boolean"),
        ("numgen", {"type": "random", "modulus": 4, "offset": 2}, "numgen random mod 4 offset 2", "integer"),
        ("hash", {"type": "symhash", "modulus": 4}, "symhash mod 4", "integer"),
        ("rt", {"key": "nexthop4"}, "rt ip nexthop", "ipv4_addr"),
        ("socket", {"key": "mark"}, "socket mark", "mark"),
        ("exthdr", {"op": "tcpopt", "type": 2, "offset": 2, "len": 2}, "tcp option maxseg size", "integer"),
        ("exthdr", {"op": "ipv6", "type": 44, "flags": 1}, "exthdr frag", "boolean"),
    ],
)
def test_words_and_kinds(name: str, fields: dict[str, Detail], words: str, kind: str) -> None:
    found = load(name, fields)
    assert found is not None
    assert (found.words, found.kind.name) == (words, kind)


def test_a_payload_waits_for_its_header() -> None:
    found = load("payload", {"base": "transport", "offset": 2, "len": 2})
    assert found is not None
    assert (found.base, found.start, found.size, found.words) == ("transport", 16, 2, "")


def test_a_hash_is_of_something() -> None:
    source = load("meta", {"key": "mark"})
    found = load("hash", {"modulus": 2, "seed": 16}, source)
    assert isinstance(found, Load)
    assert found.words == "jhash meta mark mod 2 seed 0x10"


def test_statements_load_nothing() -> None:
    assert load("counter", {}) is None


def payload(offset: int, size: int, base: str = "network") -> Load:
    found = load("payload", {"base": base, "offset": offset, "len": size})
    assert found is not None
    return found


def meta(key: str) -> Load:
    found = load("meta", {"key": key})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("one", "header", "operator", "value", "text"),
    [
        (payload(12, 4), "ip", "==", bytes([10, 0, 0, 1]), "ip saddr 10.0.0.1"),
        (payload(12, 1), "ip", "!=", bytes([10]), "ip saddr != 10.0.0.0/8"),
        (payload(12, 8), "ip", "==", bytes([10, 0, 0, 1, 10, 0, 0, 2]), "ip saddr 10.0.0.1 ip daddr 10.0.0.2"),
        (payload(12, 4), "", "==", bytes([10, 0, 0, 1]), "@nh,96,32 0xa000001"),
        (replace(payload(12, 4), mask=b"\xff\xf8\0\0"), "ip", "==", b"\x0a\0\0\0", "ip saddr 10.0.0.0/13"),
        (replace(payload(1, 1), mask=b"\xfc"), "ip", "==", b"\x20", "ip dscp cs1"),
        (replace(payload(13, 1, "transport"), mask=b"\x12"), "tcp", "==", b"\0", "tcp flags ! syn,ack"),
        (replace(payload(13, 1, "transport"), mask=b"\x12"), "tcp", "==", b"\x02", "tcp flags syn / syn,ack"),
        (meta("iifname"), "", "==", b"eth", 'iifname "eth*"'),
        (meta("oifname"), "", "!=", b"br0".ljust(16, b"\0"), 'oifname != "br0"'),
    ],
)
def test_comparisons(one: Load, header: str, operator: str, value: bytes, text: str) -> None:
    assert " ".join(compared(one, header, operator, value, str)) == text


def test_ranges() -> None:
    assert ranged(payload(2, 2, "transport"), "tcp", b"\0\x50", b"\0\x5a", True, str) == "tcp dport != 80-90"
    assert ranged(payload(2, 2, "transport"), "", b"\0\x50", b"\0\x5a", False, str) == "@th,16,16 80-90"


def test_loads_alone() -> None:
    assert load_words(payload(12, 4), "ip") == "ip saddr"
    assert load_kind(payload(12, 4), "ip").name == "ipv4_addr"
    masked = replace(meta("mark"), mask=b"\xff\0\0\0", flip=b"\0\0\0\0")
    assert load_words(masked, "").startswith("meta mark & 0x")
