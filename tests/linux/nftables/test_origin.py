"""Whose table it is."""

import pytest

from netdiag.linux.nftables.messages import Place, RuleMessage
from netdiag.linux.nftables.origin import made_by_iptables
from netdiag.linux.ruleset import Chain, ElementSet, Expression

PLACE = Place("ip", "filter")
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
        (Place("inet", "filter"), FORWARD, (), []),
        (Place("ip", "mine"), FORWARD, (), []),
        (PLACE, Chain(name="forward", hook="forward", type="filter"), (), []),
        (PLACE, Chain(name="FORWARD", hook="forward", type="filter", priority=5), (), []),
        (PLACE, FORWARD, ("ct", "cmp"), []),
        (PLACE, FORWARD, (), [ElementSet(name="s", key_type="mark")]),
    ],
)
def test_of_nft(place: Place, chain: Chain, names: tuple[str, ...], sets: list[ElementSet]) -> None:
    assert not made_by_iptables(place, [chain], [rule(*names)], sets)
