"""Requests to nf_tables as the bytes that they are, and its answers as values."""

import struct

import pytest

from netdiag.linux.nftables.messages import (
    Count,
    Malformed,
    TableId,
    decode_chain,
    decode_elements,
    decode_rule,
    decode_rule_count,
    decode_set,
    decode_table,
    get_chains,
    get_elements,
    get_flowtables,
    get_rules,
    get_sets,
    get_tables,
)
from tests.linux.nftables import message_bytes
from tests.linux.nftables.message_bytes import COUNTED, attribute, data, long, number, payload, verdict, word


def test_a_dump_of_everything() -> None:
    asked = (
        (get_tables(), 1),
        (get_chains(), 4),
        (get_rules(), 7),
        (get_sets(), 10),
        (get_flowtables(), 23),
    )
    for request, kind in asked:
        assert request == struct.pack("=IHHIIBBH", 20, 10 << 8 | kind, 0x301, 0, 0, 0, 0, 0)


def test_the_elements_of_a_set() -> None:
    request = get_elements("ip", "t", "name")
    assert struct.unpack_from("=IHH", request) == (len(request), 10 << 8 | 13, 0x301)
    assert request[16] == 2
    assert request[20:] == b"\6\0\1\0t\0\0\0\x09\0\2\0name\0\0\0\0"


def test_tables_of_families_known_and_not() -> None:
    assert decode_table(payload(10, word(1, "t"))) == TableId("ip6", "t")
    assert decode_table(payload(77, word(1, "t"))) == TableId("family 77", "t")
    with pytest.raises(Malformed):
        decode_table(memoryview(b"\2"))


def test_base_chains() -> None:
    place, chain = decode_chain(message_bytes.chain(2, "nat", "POSTROUTING", hook=4, kind="nat", priority=-5, policy=0))
    assert place == TableId("ip", "nat")
    assert (chain.hook, chain.type, chain.priority, chain.policy) == ("postrouting", "nat", -5, "drop")
    assert decode_chain(message_bytes.chain(2, "nat", "X"))[1].hook == ""


def test_a_chain_of_a_device() -> None:
    hook = number(1, 0) + number(2, 0) + word(3, "eth0")
    assert decode_chain(payload(5, word(1, "t"), word(3, "c"), attribute(4, hook)))[1].devices == ("eth0",)
    hook = number(1, 0) + number(2, 0) + attribute(4, word(1, "a") + word(1, "b"))
    assert decode_chain(payload(5, word(1, "t"), word(3, "c"), attribute(4, hook)))[1].devices == ("a", "b")


def test_rules_and_their_counters() -> None:
    message = message_bytes.rule(2, "t", "c", 7, COUNTED, verdict(1), comment="why")
    rule = decode_rule(message)
    assert (rule.place, rule.chain, rule.handle, rule.comment) == (TableId("ip", "t"), "c", 7, "why")
    assert decode_rule_count(message) == (TableId("ip", "t"), "c", 7, Count(packets=5, bytes=300))


def test_sets() -> None:
    fields = attribute(1, number(1, 4)) + attribute(1, number(1, 2))
    notes = attribute(13, b"\0\4\1\0\0\0")
    found = decode_set(
        payload(
            2,
            word(1, "t"),
            word(2, "s"),
            number(3, 4 | 128),
            number(4, 7 << 6 | 13),
            number(5, 8),
            attribute(9, attribute(2, fields)),
            notes,
        )
    )
    assert (found.name, found.flags, found.field_lengths, found.key_order) == ("s", 132, (4, 2), 1)


def test_elements() -> None:
    jump = attribute(2, attribute(2, number(1, 0xFFFFFFFD) + word(2, "X")))
    one = attribute(1, data(1, b"\0\x50") + jump)
    end = attribute(1, data(1, b"\0\x51") + number(3, 1))
    rest = attribute(1, number(3, 2) + jump)
    timed = attribute(1, data(1, b"\0\x52") + long(4, 1000) + word(9, "obj"))
    found = list(decode_elements(payload(2, word(1, "t"), word(2, "s"), attribute(3, one + end + rest + timed))))
    assert [(e.key, e.verdict, e.chain, e.closes, e.rest, e.timeout, e.object_name) for e in found] == [
        (b"\0\x50", "jump", "X", False, False, 0, ""),
        (b"\0\x51", "", "", True, False, 0, ""),
        (b"", "jump", "X", False, True, 0, ""),
        (b"\0\x52", "", "", False, False, 1000, "obj"),
    ]
