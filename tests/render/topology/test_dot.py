"""DOT: kept output, Graphviz as the reader, nothing that ends a quote."""

import re
import subprocess
from xml.etree import ElementTree

import pytest

from netdiag.render.topology.dot import dot_text
from netdiag.topology.graph import Topology
from tests.render.golden import assert_golden
from tests.render.topology.hostile import EVIL, hostile
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
