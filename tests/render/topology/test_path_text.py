"""A way as text."""

from dataclasses import replace

from netdiag.linux.ruleset import Origin, RuleAddress
from netdiag.render.screen import Screen
from netdiag.render.topology.trace import trace_text
from netdiag.topology.graph import Hop, HopKind, PathEnd
from netdiag.topology.inventory import LinkId
from netdiag.topology.path.attempts import Agreement, LinkSighting, MovedCounter, Proof
from netdiag.topology.path.prediction import predict_path
from tests.topology.five_brokers import HOSTILE_TEXT, five_brokers

TOPOLOGY = five_brokers()
CLIENT = TOPOLOGY.named("shop-client-1")
assert CLIENT is not None
WAY = predict_path(TOPOLOGY, CLIENT.netns, "broker-2", 29092)
RULE = RuleAddress(
    family="ip", table="filter", chain="FORWARD", number=3, handle=9, text="-A FORWARD -j DROP", origin=Origin.NFTABLES
)


def text(path: object = WAY, proof: Proof | None = None, *, full: bool = False) -> str:
    return trace_text(TOPOLOGY, path, Screen(), proof, full=full)  # type: ignore[arg-type]


def test_the_end_stands_first_and_the_hops_by_place() -> None:
    lines = text().splitlines()
    assert lines[0] == "shop-client-1 → broker-2:29092: connected"
    assert lines[1].startswith("  in shop-broker-2-1: java")
    assert [line for line in lines if line and not line.startswith(" ")][1:-1] == [
        "shop-client-1",
        "host",
        "shop-broker-2-1",
    ]
    assert "  resolver   broker-2 is 172.18.0.3 (the embedded DNS, on network shop_kafka)" in lines
    assert lines[-1].startswith("and back: ")


def test_the_way_of_an_answer_is_drawn_when_it_is_lost_or_asked_for() -> None:
    assert "shop-broker-2-1, the response" in text(full=True)
    lost = replace(WAY, end=PathEnd.DROPPED, because="the answer is lost")
    assert "shop-broker-2-1, the response" in text(lost)
    assert "the answer" not in text()


def test_rules_stand_below_their_hop() -> None:
    hop = Hop(kind=HopKind.FILTER, netns=WAY.source, what="forward: dropped", rules=(RULE, RULE))
    drawn = text(replace(WAY, hops=(hop,), end=PathEnd.DROPPED, because="dropped"))
    assert drawn.count("nftables ip filter FORWARD #3: -A FORWARD -j DROP") == 1
    full = text(replace(WAY, hops=(hop,), end=PathEnd.DROPPED, because="dropped"), full=True)
    assert full.count("-A FORWARD -j DROP") == 2


def test_a_proof_tells_what_was_seen_where() -> None:
    eth0 = LinkId(netns=WAY.source, ifindex=2)
    proof = Proof(
        path=WAY,
        end=PathEnd.DROPPED,
        errno="ETIMEDOUT",
        seconds=4.2,
        attempts=3,
        agreement=Agreement.DISAGREES,
        because="predicted connected, observed ETIMEDOUT",
        seen=(
            LinkSighting(link=eth0, first=True, answer=False),
            LinkSighting(link=LinkId(netns=1, ifindex=9), first=False, answer=False),
        ),
        moved=(MovedCounter(netns=WAY.source, rule=RULE, packets=3, others=False),),
        notes=("no capture",),
    )
    drawn = text(proof=proof)
    assert "a real connection: ETIMEDOUT, 4.20 s, 3 attempts; disagrees" in drawn
    assert "counted by nftables ip filter FORWARD #3 in shop-client-1: -A FORWARD -j DROP" in drawn
    assert "eth0 in shop-client-1: packet, no response" in drawn
    assert "9 in net:[1]: nothing" in drawn
    assert "note: no capture" in drawn
    crowded = replace(proof, moved=(MovedCounter(netns=WAY.source, rule=RULE, packets=9, others=True),))
    assert "consistent with nftables" in text(proof=crowded)


def test_hostile_words_stay_harmless() -> None:
    drawn = text(replace(WAY, because=HOSTILE_TEXT, destination=HOSTILE_TEXT))
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
