"""Rules, matches, targets and pieces of their options in the words of iptables-save."""

import pytest

from netdiag.linux.ruleset import Expression
from netdiag.linux.xtables.matches import decode_match, match_text
from netdiag.linux.xtables.rules import entry_text
from netdiag.linux.xtables.structs import Blob, integer, listed, negation, option, pair, port_range, quoted, rate
from netdiag.linux.xtables.targets import decode_target, target_text
from tests.each import each
from tests.linux.xtables.samples import MATCHES, TARGETS

ENTRY = Expression(name="ip", fields={"source": "10.0.0.0/8", "out": "br0", "protocol": "tcp", "not": ["out"]})


def text(*expressions: Expression) -> str:
    return entry_text("X", expressions, family="ip")


def test_conditions_matches_target() -> None:
    tcp = Expression(name="xt:tcp", fields={"destination_ports": [80, 80]})
    dnat = Expression(name="xt:DNAT", fields={"first": "1.2.3.4", "last": "1.2.3.4", "target": True})
    expected = "-A X -s 10.0.0.0/8 ! -o br0 -p tcp -m tcp --dport 80 -j DNAT --to-destination 1.2.3.4"
    assert text(ENTRY, tcp, Expression(name="counter"), dnat) == expected


def test_verdicts() -> None:
    words = (("jump", "Y", "-j Y"), ("goto", "Y", "-g Y"), ("return", "", "-j RETURN"), ("accept", "", "-j ACCEPT"))
    for word, chain, expected in words:
        assert text(Expression(name="verdict", fields={"verdict": word, "chain": chain})) == f"-A X {expected}"


def test_aliases() -> None:
    state = Expression(name="xt:conntrack", fields={"states": ["NEW"], "alias": True})
    assert text(state) == "-A X -m state --state NEW"
    assert text(Expression(name="xt:CT", fields={"flags": 3, "target": True})) == "-A X -j NOTRACK"


def test_what_is_not_understood_is_shown_as_bytes() -> None:
    odd = Expression(name="xt:odd", fields={"revision": 1, "hex": "00ff"}, understood=False)
    assert text(odd, Expression(name="numgen")) == "-A X -m odd [revision 1: 00ff] [numgen]"


def test_fragments() -> None:
    assert text(Expression(name="ip", fields={"fragment": True, "not": ["fragment"]})) == "-A X ! -f"


@each(("name", "revision", "data", "text"), MATCHES)
def test_every_match(name: str, revision: int, data: bytes, text: str) -> None:
    fields = decode_match(name, revision, Blob(data, 4))
    assert fields is not None
    assert match_text(name, fields, "ip") == text


def test_a_match_that_is_not_known_has_no_options() -> None:
    assert match_text("mystery", {}, "ip") == ""


def test_a_hop_limit_has_its_own_word() -> None:
    assert match_text("hl", {"mode": 1, "ttl": 5}, "ip6") == "! --hl-eq 5"


@each(("name", "revision", "data", "text"), TARGETS)
def test_every_target(name: str, revision: int, data: bytes, text: str) -> None:
    fields = decode_target(name, revision, Blob(data, 4))
    assert fields is not None
    assert target_text(name, fields, "ip") == text


def test_a_target_that_is_not_known_has_no_options() -> None:
    assert target_text("mystery", {}, "ip") == ""


def test_negation() -> None:
    assert option({"not": ["x"]}, "x", "--x", "1") == "! --x 1"
    assert option({}, "x", "--x", "") == "--x"
    assert negation({"not": True}, "x") == ""


def test_quotation_marks_are_for_what_is_not_plain() -> None:
    assert [quoted(text) for text in ("a-b_1", "a b", "it's", "")] == ["a-b_1", '"a b"', '"it\\\'s"', '""']


def test_ranges() -> None:
    assert [port_range([1, 1]), port_range([1, 2]), port_range(None)] == ["1", "1:2", "None"]
    assert pair([1, 2]) == ("1", "2")
    assert (integer({"a": "x"}, "a"), listed({"a": 1}, "a")) == (0, [])


@pytest.mark.parametrize(
    ("average", "text"),
    [
        (10000, "1/sec"),
        (769, "13/sec"),
        (10169, "59/min"),
        (600000, "1/min"),
        (5142857, "7/hour"),
        (288000000, "3/day"),
    ],
)
def test_rates(average: int, text: str) -> None:
    assert rate(average) == text
