"""The JSON document: every fact, no secret, sound for strict readers, fast, and as the schema says."""

import dataclasses
import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from netdiag.engine.container import Container
from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.linux.netns import Netns
from netdiag.linux.procfs import Process
from netdiag.linux.rtnetlink import (
    BridgeVlan,
    FdbEntry,
    InterfaceAddress,
    KernelSettings,
    Link,
    Neighbour,
    NextHop,
    Route,
    RoutingRule,
)
from netdiag.linux.ruleset import Chain, ElementSet, Expression, FilterRule, Origin, RuleAddress, Ruleset, Table
from netdiag.linux.sockets import Listener, Protocol
from netdiag.render.screen import Screen
from netdiag.render.topology.json import append_tail, json_text, tail_text, topology_document
from netdiag.render.topology.trace import trace_document, trace_text
from netdiag.render.topology.tree import changes_json
from netdiag.rules.topology import check_topology
from netdiag.topology.diff import differences
from netdiag.topology.graph import Hop, HopKind, LinkTraffic, PathEnd, Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.path.attempts import Agreement, LinkSighting, MovedCounter, Proof, observed_end
from netdiag.topology.path.prediction import predict_path
from netdiag.topology.path.reach import with_reach
from tests.house.tree import ROOT
from tests.render.schemas import strict_schema
from tests.render.topology.hostile import hostile
from tests.render.topology.namespaces import HOST, broker_id
from tests.render.topology.topologies import SECRET, cluster
from tests.topology.five_brokers import HOSTILE_TEXT, five_brokers

FINDING = Finding(
    rule="topology-port-down",
    severity=Severity.WARNING,
    message="the port is down",
    location=TopologyLocation(place="host", device="veth1a2b3c4"),
    hint="set it up",
)


def read(topology: Topology) -> dict[str, Any]:
    value = json.loads(json_text(topology_document(topology, [FINDING])))
    assert isinstance(value, dict)
    return value


def test_it_says_what_it_is() -> None:
    value = read(cluster())
    assert (value["format"], value["version"], value["host"]) == ("netdiag-topology", 1, "host")


def test_every_object_of_the_inventory_is_in_it() -> None:
    value = read(cluster())
    host = next(each for each in value["namespaces"] if each["inode"] == HOST)
    assert [link["ifname"] for link in host["links"]] == [
        "lo",
        "eth0",
        "br-0a1b2c3d4e5f",
        "veth1a2b3c4",
        "veth2a2b3c4",
    ]
    assert host["ruleset"]["tables"][0]["chains"][1]["rules"][0]["text"].endswith("172.18.0.2:9091")
    assert host["routes"][0]["hops"] == [{"gateway": "192.0.2.1", "ifindex": 2, "weight": 1, "flags": 0}]
    assert host["ends"][0] == {"ifindex": 11, "end": {"netns": 4026532001, "ifindex": 2}}
    assert value["kafka_listeners"][1]["advertised"] == {"host": "localhost", "port": 9091}
    assert value["published"][0]["by"] == ["dnat", "docker-proxy"]
    assert value["reach"][0]["path"]["end"] == "unresolved"
    assert value["reach"][0]["path"]["hops"][1]["rules"][0]["chain"] == "DOCKER"
    assert value["findings"][0]["location"] == {"place": "host", "device": "veth1a2b3c4", "part": ""}
    assert value["unread"] == [{"what": "process 17", "because": "no right to look into it"}]


@pytest.mark.parametrize(
    ("kind", "where", "renamed"),
    [
        (Link, "links", set()),
        (InterfaceAddress, "addresses", set()),
        (Route, "routes", set()),
        (RoutingRule, "rules", set()),
        (Neighbour, "neighbours", set()),
        (FdbEntry, "fdb", set()),
        (BridgeVlan, "vlans", set()),
        (Listener, "listeners", set()),
        (KernelSettings, "settings", set()),
        (Netns, "", set()),
    ],
)
def test_every_field_of_a_fact_is_in_it(kind: type, where: str, renamed: set[str]) -> None:
    """A field that a fact gets later must be thought of here."""
    topology = cluster()
    facts = replace(
        topology.inventory.namespaces[HOST], vlans=(BridgeVlan(ifindex=1, vlan=1, vlan_end=1, flags=("PVID",)),)
    )
    value = read(replace(topology, inventory=replace(topology.inventory, namespaces={HOST: facts})))
    (namespace,) = value["namespaces"]
    entry = namespace if not where else namespace[where] if where == "settings" else namespace[where][0]
    assert {field.name for field in dataclasses.fields(kind)} - renamed <= set(entry)


def test_every_field_of_rules_and_processes_is_in_it() -> None:
    value = read(cluster())
    table = value["namespaces"][0]["ruleset"]["tables"][0]
    for kind, entry in (
        (Table, table),
        (Chain, table["chains"][1]),
        (FilterRule, table["chains"][1]["rules"][0]),
        (Expression, table["chains"][1]["rules"][0]["expressions"][0]),
        (NextHop, value["namespaces"][0]["routes"][0]["hops"][0]),
        (Process, value["processes"][0]),
        (Ruleset, value["namespaces"][0]["ruleset"]),
    ):
        assert {field.name for field in dataclasses.fields(kind)} <= set(entry), kind


def test_sets_and_settings() -> None:
    topology = cluster()
    own = replace(
        topology.inventory.namespaces[HOST],
        ruleset=Ruleset(
            tables=(
                replace(
                    topology.inventory.namespaces[HOST].ruleset.tables[0],
                    sets=(ElementSet(name="blocked", key_type="ipv4_addr", elements=(("192.0.2.1", None),)),),
                ),
            )
        ),
    )
    value = read(replace(topology, inventory=replace(topology.inventory, namespaces={HOST: own})))
    table = value["namespaces"][0]["ruleset"]["tables"][0]
    assert table["sets"][0]["elements"] == [["192.0.2.1", None]]
    # Its elements as bytes are for evaluating.
    assert {field.name for field in dataclasses.fields(ElementSet)} - set(table["sets"][0]) == {
        "entries",
        "field_lengths",
    }
    assert value["namespaces"][0]["settings"]["rp_filter"] == {"all": 0}


def test_traffic_that_was_captured() -> None:
    link = LinkId(netns=HOST, ifindex=11)
    traffic = LinkTraffic(link=link, captured=True, connections=2, requests=7)
    (told,) = read(replace(cluster(), traffic={link: traffic}))["traffic"]
    assert {field.name for field in dataclasses.fields(LinkTraffic)} == set(told)
    assert (told["link"], told["requests"]) == ({"netns": HOST, "ifindex": 11}, 7)


def test_no_environment_label_or_command_line_is_in_it() -> None:
    topology = cluster()
    assert SECRET in topology.containers[broker_id(1)].environment.values()
    text = json_text(topology_document(topology))
    assert SECRET not in text
    shown = set(read(topology)["containers"][0])
    assert {f.name for f in dataclasses.fields(Container)} - shown == {
        *("environment", "labels", "entrypoint", "command", "image_id", "state"),
        *("start_script", "advertised", "config_file", "task"),
    }


def test_hostile_names_are_escaped_and_lone_surrogates_replaced() -> None:
    topology = cluster()
    name = 'x"\n\x1b[31m\u202e</script>\udcff'
    host = replace(topology.inventory.namespaces[HOST], links=(Link(ifindex=1, ifname=name),))
    text = json_text(
        topology_document(replace(topology, inventory=replace(topology.inventory, namespaces={HOST: host})))
    )
    assert text.isascii()
    assert not set(map(chr, range(32))) - {"\n"} & set(text)
    link = json.loads(text)["namespaces"][0]["links"][0]
    assert link["ifname"] == name.replace("\udcff", "\ufffd")
    assert link["ifindex"] == 1


def test_equal_topologies_give_equal_bytes() -> None:
    assert json_text(topology_document(cluster())) == json_text(topology_document(cluster()))


@pytest.mark.parametrize("first", [1, 2])
def test_a_document_that_is_drawn_in_two_parts(first: int) -> None:
    topology = cluster()
    odd = {
        number: replace(facts, links=(Link(ifindex=1, ifname=f"{number}\udcff"),))
        for number, facts in topology.inventory.namespaces.items()
    }
    topology = replace(topology, inventory=replace(topology.inventory, namespaces=odd))
    assert len(odd) > 2
    text = append_tail(json_text(topology_document(topology, [FINDING], first=first)), tail_text(topology, first))
    assert text == json_text(topology_document(topology, [FINDING]))


def test_a_listener_without_an_address_to_tell() -> None:
    topology = cluster()
    mute = replace(topology.listeners[0], advertised=None, bound=None)
    value = read(replace(topology, listeners=(mute,)))
    assert (value["kafka_listeners"][0]["advertised"], value["kafka_listeners"][0]["bound"]) == (None, None)
    assert value["namespaces"][0]["listeners"][0]["protocol"] == Protocol.TCP.value


def schema(name: str) -> Any:
    return strict_schema(name)


def with_traffic() -> Topology:
    link = LinkId(netns=HOST, ifindex=11)
    return replace(cluster(), traffic={link: LinkTraffic(link=link, captured=True)})


@pytest.mark.parametrize("name", ["topology.v1.json", "topology-diff.v1.json"])
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize(
    "topology",
    [cluster(), hostile(), with_traffic(), with_reach(five_brokers())],
    ids=["cluster", "hostile", "traffic", "five brokers"],
)
def test_documents_keep_the_schema(topology: Topology) -> None:
    value = json.loads(json_text(topology_document(topology, check_topology(topology))))
    jsonschema.Draft202012Validator(schema("topology.v1.json")).validate(value)


def test_what_changed_keeps_its_schema() -> None:
    changes = differences(topology_document(cluster(1)), topology_document(hostile()))
    assert {change.turn.value for change in changes} == {"appeared", "gone", "changed"}
    jsonschema.Draft202012Validator(schema("topology-diff.v1.json")).validate(json.loads(changes_json(changes)))


def test_the_schema_names_every_part() -> None:
    assert list(schema("topology.v1.json")["properties"]) == list(topology_document(cluster()))


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


SCHEMA = strict_schema("trace.v1.json")


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
    described = SCHEMA
    jsonschema.Draft202012Validator.check_schema(described)
    for document in (read, json.loads(json_text(trace_document(topology, path)))):
        jsonschema.Draft202012Validator(described).validate(document)
