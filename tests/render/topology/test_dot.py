"""DOT: kept output, Graphviz as the reader, nothing that ends a quote."""

import re
import subprocess
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import pytest

from netdiag.linux.netns import Netns
from netdiag.render.topology.dot import dot_text
from netdiag.render.topology.mermaid import MOST_EDGES, MOST_NODES, mermaid_text
from netdiag.topology.graph import Cable, CableKind, Place, PlaceKind, Topology
from netdiag.topology.inventory import NamespaceFacts
from tests.render.golden import assert_golden
from tests.render.topology.hostile import EVIL, hostile
from tests.render.topology.namespaces import broker_netns, cluster_link, link_of
from tests.render.topology.topologies import cluster
from tests.tools import tool

_SVG = "{http://www.w3.org/2000/svg}"


def drawn(topology: Topology) -> ElementTree.Element:
    done = subprocess.run(
        [tool("dot"), "-Tsvg"], input=dot_text(topology).encode(), capture_output=True, check=True, timeout=60
    )
    assert done.stderr == b""
    return ElementTree.fromstring(done.stdout)


def test_kept_output() -> None:
    assert_golden("topology/two.dot", dot_text(cluster()))


@pytest.mark.parametrize("topology", [cluster(), hostile()], ids=["plain", "hostile"])
def test_graphviz_finds_the_nodes_edges_and_clusters_that_were_meant(topology: Topology) -> None:
    svg = drawn(topology)
    kinds = [group.get("class") for group in svg.iter(f"{_SVG}g")]
    # 6 devices, 4 listeners, 2 published ports, 3 notes of sockets; 4 cables, 2 ways of 2 ports
    assert (kinds.count("node"), kinds.count("edge"), kinds.count("cluster")) == (15, 8, 3)


def test_hostile_names_stay_text() -> None:
    svg = drawn(hostile())
    assert {element.tag for element in svg.iter()} <= {
        f"{_SVG}{tag}" for tag in ("svg", "g", "title", "polygon", "text", "path", "polyline", "ellipse", "a")
    }
    assert any("<script>alert(1)</script>" in (text.text or "") for text in svg.iter(f"{_SVG}text"))
    assert "\x1b" not in dot_text(hostile())
    assert "\u202e" not in dot_text(hostile())


def test_identifiers_do_not_depend_on_numbers_or_on_what_names_hold() -> None:
    ids = re.findall(r"^    (\S+) \[", dot_text(hostile()), re.MULTILINE)
    assert all(re.fullmatch(r"graph|n[0-9a-f]{12}", each) for each in ids)
    assert EVIL not in dot_text(hostile())


_ID = r"n[0-9a-f]{12}"
# Letters, digits, a few signs, entity codes, line breaks.
_LABEL = r'"(?:[A-Za-z0-9 .,:/_-]|#[0-9]+;|<br/>)*"'
_LINES = {
    "head": re.compile(r"flowchart LR"),
    "box": re.compile(rf"  subgraph {_ID}\[{_LABEL}\]"),
    "end": re.compile(r"  end"),
    "node": re.compile(rf"  (?:  )?(?P<id>{_ID})(?:\[{_LABEL}\]|\[\[{_LABEL}\]\]|\(\[{_LABEL}\]\))"),
    "edge": re.compile(rf"  (?P<a>{_ID}) (?:---|-->|-\.->|--x)(?:\|{_LABEL}\|)? (?P<b>{_ID})"),
    "comment": re.compile(r"  %% [^{}\n]*"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flowchart:
    """What a text holds."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    boxes: int


def parse(text: str) -> Flowchart:
    """The flowchart of a text; ValueError for a line that is none of ours, an open box, an edge to nowhere."""
    nodes: list[str] = []
    edges: list[tuple[str, str]] = []
    boxes = depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        kind, match = next(((k, m) for k, p in _LINES.items() if (m := p.fullmatch(line))), (None, None))
        if match is None or (kind == "head") != (number == 1):
            raise ValueError(f"line {number}: {line}")
        if kind == "box":
            boxes, depth = boxes + 1, depth + 1
        elif kind == "end":
            depth -= 1
        elif kind == "node":
            nodes.append(match["id"])
        elif kind == "edge":
            edges.append((match["a"], match["b"]))
    if depth or len(set(nodes)) < len(nodes) or {end for edge in edges for end in edge} - set(nodes):
        raise ValueError("boxes that stay open, nodes that stand twice, or edges to what is no node")
    return Flowchart(nodes=tuple(nodes), edges=tuple(edges), boxes=boxes)


def test_kept_mermaid_output() -> None:
    assert_golden("topology/two.mmd", mermaid_text(cluster()))


def test_every_broker_hangs_from_its_network_and_every_port_leads_to_one() -> None:
    chart = parse(mermaid_text(cluster(5)))
    # a network, 5 ports, 5 brokers; DNAT and docker-proxy for each port, a cable for each broker
    assert (len(chart.nodes), len(chart.edges), chart.boxes) == (11, 15, 1)


def test_hostile_names_are_entity_codes() -> None:
    chart = parse(mermaid_text(hostile()))
    assert (len(chart.nodes), len(chart.edges)) == (5, 6)
    assert "%%{" not in mermaid_text(hostile())


@pytest.mark.parametrize("brokers", [29, 30, 200])
def test_beyond_what_people_read_networks_and_ports_are_drawn(brokers: int) -> None:
    text = mermaid_text(cluster(brokers, reach=False))
    chart = parse(text)
    assert (len(chart.nodes), f"{brokers} ports" in text) == ((59, False) if brokers == 29 else (2, True))
    assert (len(chart.nodes) <= MOST_NODES, len(chart.edges) <= MOST_EDGES, len(text) < 50_000) == (True, True, True)


def test_many_bridges_are_counted() -> None:
    topology = cluster()
    host = topology.inventory.namespaces[4026531840]
    bridges = tuple(cluster_link(100 + n, f"br-{n}", "bridge") for n in range(300))
    inventory = replace(topology.inventory, namespaces={4026531840: replace(host, links=bridges)})
    text = mermaid_text(replace(topology, inventory=inventory, networks=(), cables=(), published=()))
    assert "and 272 more bridges" in text
    assert "2 namespaces without a bridge" in text
    assert len(parse(text).nodes) <= MOST_NODES


def test_cables_between_namespaces_without_a_bridge() -> None:
    red, blue = broker_netns(71), broker_netns(72)
    topology = cluster(1)
    spaces = {
        netns: NamespaceFacts(netns=Netns(inode=netns), links=(cluster_link(2, f"v-{netns}", "veth"),))
        for netns in (red, blue)
    }
    alone = replace(
        topology,
        inventory=replace(topology.inventory, namespaces=spaces),
        places=tuple(Place(netns=n, kind=PlaceKind.NAMED, name=str(n), label=str(n)) for n in spaces),
        cables=(Cable(kind=CableKind.VETH, a=link_of(red, 2), b=link_of(blue, 2)),),
        networks=(),
        published=(),
        host="",
    )
    chart = parse(mermaid_text(alone))
    assert (len(chart.nodes), len(chart.edges), chart.boxes) == (2, 1, 0)


def test_a_namespace_with_a_bridge_hangs_from_a_bridge_of_another() -> None:
    red, blue = broker_netns(71), broker_netns(72)
    spaces = {
        netns: NamespaceFacts(
            netns=Netns(inode=netns),
            links=(
                cluster_link(2, f"v-{netns}", "veth"),
                cluster_link(3, f"b-{netns}", "bridge"),
            ),
        )
        for netns in (red, blue)
    }
    topology = cluster(1)
    joined = replace(
        topology,
        inventory=replace(topology.inventory, namespaces=spaces),
        places=tuple(Place(netns=n, kind=PlaceKind.NAMED, name=str(n), label=str(n)) for n in spaces),
        cables=(
            Cable(kind=CableKind.VETH, a=link_of(red, 2), b=link_of(blue, 2)),
            Cable(kind=CableKind.PORT, a=link_of(red, 2), b=link_of(red, 3)),
        ),
        networks=(),
        published=(),
        host="",
    )
    chart = parse(mermaid_text(joined))
    assert (len(chart.nodes), len(chart.edges), chart.boxes) == (3, 1, 2)


def test_the_grammar_refuses_what_is_not_ours() -> None:
    for line in ('  n0123456789ab["x"] y', "  click n0123456789ab href", '  n0123456789ab["a"b"]', "  end"):
        with pytest.raises(ValueError, match=r"line|boxes"):
            parse(f"flowchart LR\n{line}\n")
