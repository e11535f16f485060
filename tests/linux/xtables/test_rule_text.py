"""Whole rules in the words of iptables-save."""

from netdiag.linux.ruleset import Expression
from netdiag.linux.xtables.rule_text import entry_text

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
