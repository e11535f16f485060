"""What was seen, held against what was foretold."""

from dataclasses import replace

from netdiag.linux.ruleset import Origin, RuleAddress
from netdiag.topology.evidence import deciding_rule, demanded, devices_of, judged
from netdiag.topology.hops import End, Hop, HopKind, Path
from netdiag.topology.inventory import LinkId
from netdiag.topology.proof import Agreement, Attempted, Moved, Seen

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
    end=End.DROPPED,
    because="",
)
TIMED_OUT = Attempted(errno="ETIMEDOUT", closed=None, seconds=4.2)
ON_THE_WAY = (Seen(link=ETH0, first=True, answer=False), Seen(link=PORT, first=True, answer=False))


def judge(
    path: Path = DROPPED,
    attempted: Attempted = TIMED_OUT,
    seen: tuple[Seen, ...] = ON_THE_WAY,
    moved: tuple[Moved, ...] = (),
) -> tuple[Agreement, str]:
    return judged(path, attempted, seen, moved, demanded=demanded(path), counted={(2, RULE)})


def test_devices_and_those_that_a_packet_must_reach() -> None:
    assert devices_of(DROPPED) == (ETH0, PORT, BRIDGE)
    assert demanded(DROPPED) == {ETH0, PORT}
    assert demanded(replace(DROPPED, end=End.CONNECTED)) == {ETH0, PORT, BRIDGE}
    lost = replace(DROPPED, hops=(hop(HopKind.NEIGHBOUR, ETH0),), end=End.NO_NEIGHBOUR)
    assert demanded(lost) == frozenset()
    beyond = (*DROPPED.hops[:2], hop(HopKind.PROXY), hop(HopKind.LINK, PORT))
    assert devices_of(replace(DROPPED, hops=beyond)) == (ETH0,)
    back = (*DROPPED.hops[:2], hop(HopKind.LINK, PORT, details={"answer": True}))
    assert devices_of(replace(DROPPED, hops=back)) == (ETH0,)


def test_the_rule_that_decides() -> None:
    assert deciding_rule(DROPPED) == (2, RULE)
    assert deciding_rule(replace(DROPPED, end=End.CONNECTED)) is None
    assert deciding_rule(replace(DROPPED, hops=DROPPED.hops[:-1])) is None
    assert deciding_rule(replace(DROPPED, hops=())) is None


def test_rules_must_have_counted() -> None:
    assert judge() == (
        Agreement.DISAGREES,
        "ETIMEDOUT as foretold, but the counter of nftables ip filter FORWARD #3 did not move",
    )
    for others, word in ((False, "counted by"), (True, "consistent with")):
        moved = Moved(netns=2, rule=RULE, packets=3, others=others)
        assert judge(moved=(moved,)) == (
            Agreement.AGREES,
            f"ETIMEDOUT as foretold, {word} nftables ip filter FORWARD #3",
        )


def test_devices_must_have_seen_it() -> None:
    unseen = (ON_THE_WAY[0], replace(ON_THE_WAY[1], first=False))
    agreement, because = judge(seen=unseen)
    assert agreement is Agreement.DISAGREES
    assert "not seen on 1 devices" in because


def test_other_ends() -> None:
    connected = Attempted(errno="", closed=False, seconds=0)
    assert judge(attempted=connected) == (Agreement.DISAGREES, "foretold dropped, came connected")
    assert judge(replace(DROPPED, end=End.UNKNOWN), connected)[0] is Agreement.OPEN
    closed = replace(DROPPED, end=End.CLOSED, hops=())
    assert judge(closed, replace(connected, closed=True), ()) == (Agreement.AGREES, "closed at once as foretold")
