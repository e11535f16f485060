"""Expressions from their attributes."""

import random
from contextlib import suppress

import pytest

from netdiag.errors import NetdiagError
from netdiag.linux.nftables.messages import Count, Malformed, decode_expressions, reject_kind
from netdiag.linux.ruleset import Expression
from tests.linux.nftables.message_bytes import COUNTED, TCP_PORT_80, attribute, data, expression, number, verdict, word


def decoded(*parts: bytes, family: str = "ip") -> tuple[Expression, ...]:
    return decode_expressions(memoryview(b"".join(parts)), family)[0]


def test_a_rule_in_order_with_its_counter() -> None:
    found, count = decode_expressions(memoryview(b"".join((*TCP_PORT_80, COUNTED, verdict(-3, "X")))), "ip")
    assert [one.name for one in found] == ["meta", "cmp", "payload", "cmp", "counter", "verdict"]
    assert found[0].fields == {"dreg": 1, "key": "l4proto"}
    assert found[2].fields == {"dreg": 1, "base": "transport", "offset": 2, "len": 2}
    assert found[3].fields == {"sreg": 1, "op": "==", "data": "0050"}
    assert found[5].fields == {"verdict": "jump", "chain": "X"}
    assert count == Count(packets=5, bytes=300)


def test_what_is_not_known_is_not_understood() -> None:
    odd, later = decoded(expression("odd", number(1, 1)), expression("meta", number(1, 1), number(99, 1)))
    assert (odd.understood, later.understood) == (False, False)
    assert decoded(expression("meta", number(1, 1), number(2, 999)))[0].fields["key"] == "unknown(999)"


def test_rejections_by_family() -> None:
    assert (
        decoded(expression("reject", number(1, 0), attribute(2, b"\x0d")))[0].fields["kind"] == "icmp admin-prohibited"
    )
    assert reject_kind("icmp", 1, "ip6") == "icmpv6 admin-prohibited"
    assert reject_kind("icmpx", 1, "inet") == "icmpx port-unreachable"
    assert reject_kind("tcp reset", 0, "ip") == "tcp reset"


def test_matches_of_iptables() -> None:
    found = decoded(expression("match", word(1, "comment"), number(2, 0), attribute(3, b"hello\0")))
    assert found[0] == Expression(name="xt:comment", fields={"comment": "hello"})


def test_a_queue_is_a_verdict_with_a_number() -> None:
    assert decoded(verdict(3 | 5 << 16))[0].fields["verdict"] == "queue"


def test_an_inverted_lookup() -> None:
    found = decoded(expression("lookup", word(1, "s"), number(2, 1), number(5, 1)))
    assert found[0].fields["invert"] is True


def test_too_many_expressions() -> None:
    with pytest.raises(Malformed):
        decoded(*[COUNTED] * 600)


def test_statements_within_statements_end() -> None:
    inner = word(1, "dynset") + attribute(2, b"")
    for _ in range(50):
        inner = word(1, "dynset") + attribute(2, attribute(7, inner))
    assert decoded(attribute(1, inner))[0].fields["expressions"] == []


def test_bytes_of_any_kind_give_an_error_of_ours() -> None:
    chance = random.Random(3)
    whole = b"".join((*TCP_PORT_80, COUNTED, verdict(-3, "X"), expression("immediate", number(1, 1), data(2, b"abcd"))))
    for _ in range(3000):
        broken = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        with suppress(NetdiagError):
            decode_expressions(memoryview(broken[: chance.randrange(len(broken) + 1)]), "ip")
