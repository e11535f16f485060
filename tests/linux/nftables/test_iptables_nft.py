"""Which tables iptables made, and their rules in its words."""

import pytest

from netdiag.linux.nftables.iptables_nft import as_iptables, iptables_text, made_by_iptables
from netdiag.linux.nftables.messages import RuleMessage, TableId, decode_expressions
from netdiag.linux.ruleset import Chain, ElementSet, Expression
from tests.linux.nftables.message_bytes import COUNTED, TCP_PORT_80, attribute, data, expression, number, verdict

PLACE = TableId("ip", "filter")
FORWARD = Chain(name="FORWARD", hook="forward", type="filter", priority=0, policy="accept")
OTHER = Chain(name="DOCKER")


def rule(*names: str) -> RuleMessage:
    expressions = tuple(Expression(name=name) for name in names)
    return RuleMessage(place=PLACE, chain="FORWARD", handle=1, expressions=expressions, count=None, comment="")


def test_of_iptables() -> None:
    assert made_by_iptables(PLACE, [FORWARD, OTHER], [rule("meta", "cmp", "xt:tcp", "counter", "verdict")], [])


@pytest.mark.parametrize(
    ("place", "chain", "names", "sets"),
    [
        (TableId("inet", "filter"), FORWARD, (), []),
        (TableId("ip", "mine"), FORWARD, (), []),
        (PLACE, Chain(name="forward", hook="forward", type="filter"), (), []),
        (PLACE, Chain(name="FORWARD", hook="forward", type="filter", priority=5), (), []),
        (PLACE, FORWARD, ("ct", "cmp"), []),
        (PLACE, FORWARD, (), [ElementSet(name="s", key_type="mark")]),
    ],
)
def test_of_nft(place: TableId, chain: Chain, names: tuple[str, ...], sets: list[ElementSet]) -> None:
    assert not made_by_iptables(place, [chain], [rule(*names)], sets)


def text(*parts: bytes, family: str = "ip") -> str:
    return iptables_text("X", decode_expressions(memoryview(b"".join(parts)), family)[0], family=family)


def load(base: int, offset: int, length: int) -> bytes:
    return expression("payload", number(1, 1), number(2, base), number(3, offset), number(4, length))


def compare(value: bytes, operator: int = 0) -> bytes:
    return expression("cmp", number(1, 1), number(2, operator), data(3, value))


def meta(key: int) -> bytes:
    return expression("meta", number(1, 1), number(2, key))


def masked(mask: bytes) -> bytes:
    return expression(
        "bitwise", number(1, 1), number(2, 1), number(3, len(mask)), data(4, mask), data(5, bytes(len(mask)))
    )


def test_protocols_and_ports() -> None:
    assert text(*TCP_PORT_80, COUNTED, verdict(1)) == "-A X -p tcp -m tcp --dport 80 -j ACCEPT"
    assert text(*TCP_PORT_80[:3], compare(b"\0\x50", 5), compare(b"\0\x60", 3)) == "-A X -p tcp -m tcp --dport 80:96"
    inverted = expression("range", number(1, 1), number(2, 1), data(3, b"\0\x50"), data(4, b"\0\x60"))
    assert text(*TCP_PORT_80[:3], inverted) == "-A X -p tcp -m tcp ! --dport 80:96"


def test_addresses() -> None:
    assert text(load(1, 12, 1), compare(b"\x0a")) == "-A X -s 10.0.0.0/8"
    assert text(load(1, 16, 4), masked(b"\xff\xf8\0\0"), compare(b"\x0a\0\0\0", 1)) == "-A X ! -d 10.0.0.0/13"
    assert text(load(1, 8, 16), compare(bytes(15) + b"\1"), family="ip6") == "-A X -s ::1/128"


def test_devices_marks_and_the_rest() -> None:
    assert text(meta(6), compare(b"eth")) == "-A X -i eth+"
    assert text(meta(7), compare(b"eth0\0", 1)) == "-A X ! -o eth0"
    assert text(meta(3), compare((5).to_bytes(4, "little"))) == "-A X -m mark --mark 0x5"
    assert text(meta(19), compare(b"\1")) == "-A X -m pkttype --pkt-type broadcast"
    assert text(load(1, 6, 2), masked(b"\x1f\xff"), compare(b"\0\0", 1)) == "-A X -f"
    assert text(expression("log", attribute(1, b"\0\5"))) == "-A X -j NFLOG --nflog-group 5"


def test_what_iptables_would_not_make_is_named() -> None:
    assert text(meta(25), compare(b"\0\0\0\0")) == "-A X [cmp]"


def test_the_result_can_be_evaluated_like_a_legacy_rule() -> None:
    found = as_iptables(decode_expressions(memoryview(b"".join(TCP_PORT_80)), "ip")[0], "ip")
    assert found[0] == Expression(name="ip", fields={"protocol": "tcp"})
    assert found[1].fields["destination_ports"] == [80, 80]
