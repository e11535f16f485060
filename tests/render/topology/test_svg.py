"""The SVG stands alone: well-formed, nothing in it runs or is fetched, and foreign names are text."""

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import pytest

from netdiag.render.topology.html import html_page
from netdiag.render.topology.svg import svg_text
from netdiag.topology.graph import Cable, CableKind, PlaceKind, Topology
from netdiag.topology.inventory import Inventory, LinkId
from tests.render.topology.ways import with_ways
from tests.topology.five_brokers import HOSTILE_TEXT, SECRET, crowd, five_brokers, hostile

NAMESPACE = "{http://www.w3.org/2000/svg}"
DRAWN = {"svg", "title", "desc", "style", "rect", "g", "path", "circle", "text"}


def parsed(topology: Topology) -> Element:
    """The tree of the file."""
    return fromstring(svg_text(topology))


@pytest.mark.parametrize(
    "topology", [with_ways(five_brokers()), with_ways(hostile()), crowd(40)], ids=["5", "bad", "40"]
)
def test_nothing_in_it_runs_or_is_fetched(topology: Topology) -> None:
    root = parsed(topology)
    assert {element.tag.removeprefix(NAMESPACE) for element in root.iter()} <= DRAWN
    names = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in names if name.startswith("on") or "href" in name or name in ("style", "id")}
    style = root.findtext(f"{NAMESPACE}style", "")
    assert "@import" not in style
    assert "url(" not in style
    assert "prefers-color-scheme: dark" in style


def test_hostile_names_are_text_and_secrets_are_not_in_it() -> None:
    text = svg_text(with_ways(hostile()), title=HOSTILE_TEXT)
    root = fromstring(text)
    shown = root.findtext(f"{NAMESPACE}title", "")
    assert shown.startswith("<script>alert(1)</script>\\x1b[31m")
    assert "<script" not in text
    assert not {"\x1b", "\u202e"} & set(text)
    assert SECRET not in text


def test_it_says_what_it_is_and_how_much_was_seen() -> None:
    root = parsed(with_ways(five_brokers()))
    assert root.findtext(f"{NAMESPACE}title") == "network of kafka-host"
    assert root.findtext(f"{NAMESPACE}desc") == "8 of 8 places can reach all 5 brokers."
    assert next(root.iter(f"{NAMESPACE}text")).text == "8 of 8 places can reach all 5 brokers.", "what comes first"
    assert any("9 namespaces" in (text.text or "") for text in root.iter(f"{NAMESPACE}text"))


def test_equal_topologies_give_equal_bytes() -> None:
    assert svg_text(crowd(30)) == svg_text(crowd(30))


NOWHERE = LinkId(netns=1, ifindex=1)
EMPTY = Topology(inventory=Inventory(namespaces={}, own=0), places=())


def odd() -> Iterator[Topology]:
    """Topologies in which what is spoken of is not there."""
    five = with_ways(five_brokers())
    yield EMPTY
    yield replace(five, places=())
    yield replace(five, places=tuple(place for place in five.places if place.kind is not PlaceKind.HOST))
    yield replace(five, inventory=EMPTY.inventory)
    yield replace(five, containers={})
    yield replace(five, networks=(), cables=())
    yield replace(five, listeners=())
    yield replace(five, cables=(*five.cables, *(Cable(kind=kind, a=NOWHERE, b=NOWHERE) for kind in CableKind)))
    yield replace(five, cables=tuple(Cable(kind=kind, a=c.a, b=c.a) for c in five.cables for kind in CableKind))
    yield replace(five, published=(*five.published, replace(five.published[0], container="gone")))
    yield replace(five, listeners=(*five.listeners, replace(five.listeners[0], container="gone", key="x/y")))
    yield replace(five, listeners=tuple(replace(one, published=("gone",)) for one in five.listeners))
    yield replace(five, reach=tuple(replace(one, listener="gone", source="gone") for one in five.reach))
    yield replace(five, places=tuple(replace(place, name="", label="") for place in five.places))


@pytest.mark.parametrize("number", range(14))
def test_what_is_not_there_breaks_no_picture(number: int) -> None:
    topology = list(odd())[number]
    assert parsed(topology).tag == f"{NAMESPACE}svg"
    assert html_page(topology).endswith("</html>\n")
