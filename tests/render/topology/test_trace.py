"""The path of a connection as text and as JSON."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema

import netdiag.render
from netdiag.linux.ruleset import Origin, RuleAddress
from netdiag.render.screen import Screen
from netdiag.render.topology.json import json_text
from netdiag.render.topology.trace import trace_document, trace_text
from netdiag.topology.graph import Hop, HopKind, PathEnd
from netdiag.topology.inventory import LinkId
from netdiag.topology.path.attempts import Agreement, LinkSighting, MovedCounter, Proof, observed_end
from netdiag.topology.path.prediction import predict_path
from tests.house.tree import ROOT
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


def test_the_guide_shows_it() -> None:
    guide = (ROOT / "docs/guides/trace.md").read_text(encoding="utf-8")
    assert f"$ sudo netdiag trace shop-client-1 broker-2:29092\n{text().strip()}\n```" in guide


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


SCHEMA = Path(netdiag.render.__file__).parent / "schema" / "trace.v1.json"


def test_the_document_names_its_places_and_survives_json() -> None:
    topology = five_brokers()
    client = topology.named("shop-client-1")
    assert client is not None
    path = predict_path(topology, client.netns, "broker-2", 29093)
    proof = Proof(
        path=path,
        end=observed_end("ECONNREFUSED"),
        errno="ECONNREFUSED",
        seconds=0.00123,
        attempts=1,
        agreement=Agreement.AGREES,
        because="as predicted",
        seen=(LinkSighting(link=path.hops[1].link, first=True, answer=True),) if path.hops[1].link else (),
    )
    read = json.loads(json_text(trace_document(topology, path, proof)))
    assert (read["format"], read["version"]) == ("netdiag-trace", 1)
    assert read["places"][str(client.netns)] == "shop-client-1"
    assert (read["path"]["end"], read["path"]["errno"]) == ("refused", "ECONNREFUSED")
    assert read["path"]["hops"][0]["kind"] == "resolver"
    assert (read["proof"]["agreement"], read["proof"]["seconds"]) == ("agrees", 0.001)
    assert read["proof"]["seen"][0]["first"] is True
    assert json.loads(json_text(trace_document(topology, path)))["proof"] is None
    described = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(described)
    for document in (read, json.loads(json_text(trace_document(topology, path)))):
        jsonschema.Draft202012Validator(described).validate(document)
