"""What attempts have in common, from literal counts."""

from netdiag.linux.ruleset import (
    Chain,
    Expression,
    FilterRule,
    Origin,
    RuleAddress,
    Ruleset,
    Table,
    address_of,
    policy_of,
)
from netdiag.topology.counted import Deciding, Window, ends_packets, in_common, uncounted
from netdiag.topology.inventory import Inventory
from tests.topology.spaces import ROOT, Space

DROP = Expression(name="verdict", fields={"verdict": "drop"})
JUMP = Expression(name="verdict", fields={"verdict": "jump", "chain": "OWN"})


def rule(number: int, *expressions: Expression, packets: int | None = 0) -> FilterRule:
    return FilterRule(number=number, handle=number, expressions=expressions, text=f"rule {number}", packets=packets)


CHAIN = Chain(
    name="FORWARD",
    hook="forward",
    type="filter",
    policy="drop",
    rules=(rule(1, JUMP), rule(2, DROP), rule(3, Expression(name="xt:REJECT")), rule(4, DROP, packets=None)),
)
TABLE = Table(family="ip", name="filter", origin=Origin.IPTABLES_NFT, chains=(CHAIN,))
JUMPS, DROPS, REJECTS, _ = (address_of(TABLE, CHAIN, one) for one in CHAIN.rules)
POLICY = policy_of(TABLE, CHAIN)


def machine() -> Inventory:
    space = Space(inode=ROOT)
    space.ruleset = Ruleset(tables=(TABLE,))
    return Inventory(namespaces={ROOT: space.facts()}, own=ROOT)


def window(during: dict[RuleAddress, int], after: dict[RuleAddress, int] | None = None) -> Window:
    return Window(
        during={(ROOT, one): count for one, count in during.items()},
        after={(ROOT, one): count for one, count in (after or {}).items()},
    )


def deciding(*windows: Window) -> Deciding:
    return Deciding(errno="EINPROGRESS", attempts=len(windows), counted=in_common(windows, machine()))


def test_what_rose_by_one_every_time_is_proven() -> None:
    found = deciding(*[window({JUMPS: 1, DROPS: 1})] * 3)
    assert found.proven is not None
    assert found.proven.rule == DROPS
    assert [one.rule for one in found.ending] == [DROPS]
    assert [one.rule for one in found.counted] == [JUMPS, DROPS]


def test_what_did_not_rise_every_time_was_others() -> None:
    found = deciding(window({DROPS: 1, REJECTS: 1}), window({DROPS: 1}), window({DROPS: 1}))
    assert [one.rule for one in found.counted] == [DROPS]


def test_more_than_ours_or_without_us_is_consistent_only() -> None:
    more = deciding(window({DROPS: 1}), window({DROPS: 2}), window({DROPS: 1}))
    without = deciding(window({DROPS: 1}), window({DROPS: 1}, {DROPS: 1}), window({DROPS: 1}))
    for found in (more, without):
        assert found.proven is None
        assert [(one.rule, one.foreign) for one in found.ending] == [(DROPS, True)]


def test_two_that_end_packets_prove_neither() -> None:
    assert deciding(*[window({DROPS: 1, REJECTS: 1})] * 3).proven is None


def test_a_proven_rule_beside_a_busy_one() -> None:
    found = deciding(*[window({DROPS: 1, REJECTS: 4})] * 3)
    assert found.proven is not None
    assert [one.rule for one in found.ending] == [DROPS, REJECTS]


def test_a_policy_ends_packets() -> None:
    found = deciding(*[window({POLICY: 1})] * 3)
    assert found.proven is not None
    assert (found.proven.rule.number, found.proven.rule.text) == (0, "-P FORWARD DROP")
    native = Table(family="inet", name="own", origin=Origin.NFTABLES, chains=(CHAIN,))
    assert policy_of(native, CHAIN).text == "policy drop"


def test_nothing_counted() -> None:
    assert deciding(window({})).counted == ()
    assert deciding().proven is None


def test_which_rules_end_packets() -> None:
    assert [ends_packets(one) for one in CHAIN.rules] == [False, True, True, True]
    assert uncounted([Ruleset(tables=(TABLE,))]) == 1
