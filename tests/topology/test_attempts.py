"""What attempts have in common, from literal counts."""

from dataclasses import replace

import pytest

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
from netdiag.topology.graph import Hop, HopKind, Path, PathEnd
from netdiag.topology.inventory import Inventory, LinkId
from netdiag.topology.path.attempts import (
    Agreement,
    ConnectResult,
    CounterEvidence,
    CounterWindow,
    LinkSighting,
    MovedCounter,
    agreement,
    deciding_rule,
    ends_packets,
    judge_attempt,
    observed_end,
    predicted_links,
    required_links,
    rules_counted_every_time,
    rules_without_counter,
)
from tests.topology.namespaces import ROOT, Space

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


def window(during: dict[RuleAddress, int], after: dict[RuleAddress, int] | None = None) -> CounterWindow:
    return CounterWindow(
        during={(ROOT, one): count for one, count in during.items()},
        after={(ROOT, one): count for one, count in (after or {}).items()},
    )


def deciding(*windows: CounterWindow) -> CounterEvidence:
    return CounterEvidence(
        errno="EINPROGRESS", attempts=len(windows), counted=rules_counted_every_time(windows, machine())
    )


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
    assert rules_without_counter([Ruleset(tables=(TABLE,))]) == 1


def path(end: PathEnd, errno: str = "") -> Path:
    return Path(source=1, destination="a", port=1, address="a", hops=(), end=end, because="", errno=errno)


@pytest.mark.parametrize(
    ("end", "predicted", "came", "closed", "expected"),
    [
        (PathEnd.CONNECTED, "", "", False, Agreement.AGREES),
        (PathEnd.CONNECTED, "", "", None, Agreement.AGREES),
        (PathEnd.CONNECTED, "", "", True, Agreement.DISAGREES),
        (PathEnd.CLOSED, "", "", True, Agreement.AGREES),
        (PathEnd.CLOSED, "", "", False, Agreement.DISAGREES),
        (PathEnd.CONNECTED, "", "ECONNREFUSED", None, Agreement.DISAGREES),
        (PathEnd.REFUSED, "ECONNREFUSED", "ECONNREFUSED", None, Agreement.AGREES),
        (PathEnd.REFUSED, "EHOSTUNREACH", "ECONNREFUSED", None, Agreement.DISAGREES),
        (PathEnd.REFUSED, "EHOSTUNREACH", "EHOSTUNREACH", None, Agreement.AGREES),
        (PathEnd.DROPPED, "", "ETIMEDOUT", None, Agreement.AGREES),
        (PathEnd.NO_ROUTE, "ENETUNREACH", "EHOSTUNREACH", None, Agreement.DISAGREES),
        (PathEnd.NO_NEIGHBOUR, "EHOSTUNREACH", "EHOSTUNREACH", None, Agreement.AGREES),
        (PathEnd.UNKNOWN, "", "", None, Agreement.OPEN),
        (PathEnd.UNRESOLVED, "", "ETIMEDOUT", None, Agreement.OPEN),
    ],
)
def test_agreement(end: PathEnd, predicted: str, came: str, closed: bool | None, expected: Agreement) -> None:
    assert agreement(path(end, predicted), came, closed=closed) is expected


def test_what_an_errno_stands_for() -> None:
    ends = [observed_end(errno) for errno in ("", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH", "EWHAT")]
    assert ends == [
        PathEnd.CONNECTED,
        PathEnd.REFUSED,
        PathEnd.DROPPED,
        PathEnd.NO_ROUTE,
        PathEnd.NO_NEIGHBOUR,
        PathEnd.UNKNOWN,
    ]
    assert observed_end("", closed=True) is PathEnd.CLOSED


RULE = RuleAddress(
    family="ip", table="filter", chain="FORWARD", number=3, handle=9, text="-j DROP", origin=Origin.NFTABLES
)
ETH0, PORT, BRIDGE = (LinkId(netns=netns, ifindex=2) for netns in (1, 2, 3))


def hop(kind: HopKind, link: LinkId | None = None, **more: object) -> Hop:
    return replace(Hop(kind=kind, netns=2, what=kind.value, link=link), **more)  # type: ignore[arg-type]


DROPPED = Path(
    source=1,
    destination="a",
    port=1,
    address="10.0.0.1",
    hops=(
        hop(HopKind.ROUTE, LinkId(netns=9, ifindex=9)),
        hop(HopKind.NEIGHBOUR, ETH0),
        hop(HopKind.LINK, PORT),
        hop(HopKind.BRIDGE, BRIDGE),
        hop(HopKind.FILTER, rules=(RULE,)),
    ),
    end=PathEnd.DROPPED,
    because="",
)
TIMED_OUT = ConnectResult(errno="ETIMEDOUT", closed=None, seconds=4.2)
ON_THE_WAY = (LinkSighting(link=ETH0, first=True, answer=False), LinkSighting(link=PORT, first=True, answer=False))


def judge(
    path: Path = DROPPED,
    attempted: ConnectResult = TIMED_OUT,
    seen: tuple[LinkSighting, ...] = ON_THE_WAY,
    moved: tuple[MovedCounter, ...] = (),
) -> tuple[Agreement, str]:
    return judge_attempt(path, attempted, seen, moved, required=required_links(path), counted={(2, RULE)})


def test_devices_and_those_that_a_packet_must_reach() -> None:
    assert predicted_links(DROPPED) == (ETH0, PORT, BRIDGE)
    assert required_links(DROPPED) == {ETH0, PORT}
    assert required_links(replace(DROPPED, end=PathEnd.CONNECTED)) == {ETH0, PORT, BRIDGE}
    lost = replace(DROPPED, hops=(hop(HopKind.NEIGHBOUR, ETH0),), end=PathEnd.NO_NEIGHBOUR)
    assert required_links(lost) == frozenset()
    beyond = (*DROPPED.hops[:2], hop(HopKind.PROXY), hop(HopKind.LINK, PORT))
    assert predicted_links(replace(DROPPED, hops=beyond)) == (ETH0,)
    back = (*DROPPED.hops[:2], hop(HopKind.LINK, PORT, details={"answer": True}))
    assert predicted_links(replace(DROPPED, hops=back)) == (ETH0,)


def test_the_rule_that_decides() -> None:
    assert deciding_rule(DROPPED) == (2, RULE)
    assert deciding_rule(replace(DROPPED, end=PathEnd.CONNECTED)) is None
    assert deciding_rule(replace(DROPPED, hops=DROPPED.hops[:-1])) is None
    assert deciding_rule(replace(DROPPED, hops=())) is None


def test_rules_must_have_counted() -> None:
    assert judge() == (
        Agreement.DISAGREES,
        "ETIMEDOUT as predicted, but the counter of nftables ip filter FORWARD #3 did not change",
    )
    for others, word in ((False, "counted by"), (True, "consistent with")):
        moved = MovedCounter(netns=2, rule=RULE, packets=3, others=others)
        assert judge(moved=(moved,)) == (
            Agreement.AGREES,
            f"ETIMEDOUT as predicted, {word} nftables ip filter FORWARD #3",
        )


def test_devices_must_have_seen_it() -> None:
    unseen = (ON_THE_WAY[0], replace(ON_THE_WAY[1], first=False))
    agreement, because = judge(seen=unseen)
    assert agreement is Agreement.DISAGREES
    assert "not seen on 1 devices" in because


def test_other_ends() -> None:
    connected = ConnectResult(errno="", closed=False, seconds=0)
    assert judge(attempted=connected) == (Agreement.DISAGREES, "predicted dropped, observed connected")
    assert judge(replace(DROPPED, end=PathEnd.UNKNOWN), connected)[0] is Agreement.OPEN
    closed = replace(DROPPED, end=PathEnd.CLOSED, hops=())
    assert judge(closed, replace(connected, closed=True), ()) == (Agreement.AGREES, "closed at once as predicted")
