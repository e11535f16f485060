"""Tables put together."""

from netdiag.linux.nftables.assemble import Answers, assemble
from netdiag.linux.nftables.messages import decode_chain, decode_rule, decode_table
from netdiag.linux.ruleset import Origin
from tests.linux.nftables.building import (
    COUNTED,
    TCP_PORT_80,
    attribute,
    chain,
    expression,
    payload,
    rule,
    verdict,
    word,
)


def test_rules_are_numbered_in_their_chains() -> None:
    comment = expression("match", word(1, "comment"), attribute(3, b"why\0"))
    answers = Answers(
        tables=[decode_table(payload(2, word(1, "filter")))],
        chains=[decode_chain(chain(2, "filter", "FORWARD", hook=2)), decode_chain(chain(2, "filter", "X"))],
        rules=[
            decode_rule(rule(2, "filter", "FORWARD", 5, *TCP_PORT_80, COUNTED, verdict(1))),
            decode_rule(rule(2, "filter", "X", 6, comment, verdict(0))),
            decode_rule(rule(2, "filter", "FORWARD", 7, verdict(-3, "X"))),
            decode_rule(rule(2, "other", "FORWARD", 8)),
        ],
    )
    (table,) = assemble(answers)
    assert table.origin is Origin.IPTABLES_NFT
    assert [(one.number, one.handle, one.text, one.packets) for one in table.chains[0].rules] == [
        (1, 5, "-A FORWARD -p tcp -m tcp --dport 80 -j ACCEPT", 5),
        (2, 7, "-A FORWARD -j X", None),
    ]
    assert table.chains[1].rules[0].comment == "why"
