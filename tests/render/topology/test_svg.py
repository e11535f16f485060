"""The SVG stands alone: well-formed, nothing in it runs or is fetched, and foreign names are text."""

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import pytest

from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.render.topology.broker_access import BrokerAccess, Mark
from netdiag.render.topology.html import html_page
from netdiag.render.topology.layout import Picture, layout
from netdiag.render.topology.scene import scene
from netdiag.render.topology.svg import drawing, mark_sign, svg_text, total_height
from netdiag.topology.graph import Cable, CableKind, PlaceKind, Topology, Unmatched
from netdiag.topology.inventory import Inventory, LinkId
from tests.render.topology.traces import with_traces
from tests.topology.five_brokers import HOSTILE_TEXT, SECRET, crowd, five_brokers, hostile, machine

NAMESPACE = "{http://www.w3.org/2000/svg}"
DRAWN = {"svg", "title", "desc", "style", "rect", "g", "path", "circle", "text"}


def parsed(topology: Topology) -> Element:
    """The tree of the file."""
    return fromstring(svg_text(topology))


@pytest.mark.parametrize(
    "topology", [with_traces(five_brokers()), with_traces(hostile()), crowd(40)], ids=["5", "bad", "40"]
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
    text = svg_text(with_traces(hostile()), title=HOSTILE_TEXT)
    root = fromstring(text)
    shown = root.findtext(f"{NAMESPACE}title", "")
    assert shown.startswith("<script>alert(1)</script>\\x1b[31m")
    assert "<script" not in text
    assert not {"\x1b", "\u202e"} & set(text)
    assert SECRET not in text


def test_it_says_what_it_is_and_how_much_was_seen() -> None:
    root = parsed(with_traces(five_brokers()))
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
    five = with_traces(five_brokers())
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


FINDING = Finding(
    rule="some-rule",
    severity=Severity.ERROR,
    message="nobody gets through",
    location=TopologyLocation(place="host", part="broker-1/EXTERNAL"),
)


@pytest.fixture(scope="module")
def picture() -> Picture:
    """Five brokers, with a finding on a listener and something that could not be matched."""
    topology = replace(with_traces(five_brokers()), unmatched=(Unmatched(subject="veth9", because="nobody's"),))
    return layout(scene(BrokerAccess(topology=topology), [FINDING]))


def test_everything_is_drawn_with_its_key(picture: Picture) -> None:
    keys = set(re.findall(r'data-key="([^"]*)"', "".join(drawing(picture, live=True))))
    scene = picture.scene
    wanted = {*(b.key for b in scene.boxes), *(p.key for p in scene.pills), *(c.key for c in scene.chips)}
    assert keys >= wanted | {row.key for box in scene.boxes for row in box.rows}
    assert "network:shop_kafka" in keys


def test_only_a_live_picture_has_buttons(picture: Picture) -> None:
    dead, live = "".join(drawing(picture, live=False)), "".join(drawing(picture, live=True))
    assert "tabindex" not in dead
    assert "<title>" in dead
    assert live.count('role="button"') == live.count("aria-label=") == live.count("data-key=")
    assert " id=" not in dead + live
    assert " style=" not in dead + live


def test_what_is_said_aloud_does_not_need_colours(picture: Picture) -> None:
    text = "".join(drawing(picture, live=True))
    assert "listener EXTERNAL, binds 0.0.0.0:9092, advertises localhost:9092: answers, then fails" in text
    assert "its address works from 1 of 7 places" in text
    assert "published port 0.0.0.0+[::]:9091 → 9091, by DNAT and docker-proxy" in text


def test_what_is_wrong_is_marked_and_told(picture: Picture) -> None:
    text = "".join(drawing(picture, live=True))
    assert re.search(r'class="node row \w+ faulty" data-key="listener:broker-1/EXTERNAL"', text)
    assert "error: broker-1/EXTERNAL: nobody gets through" in text
    assert "warning: veth9: nobody&#x27;s" in text
    assert total_height(picture, "footer") > total_height(picture) > picture.height


def test_where_there_is_little_room_a_pill_keeps_its_port() -> None:
    made = machine()
    made.container("shop-worker-1", networks=("shop_front",), ports=(("", 18443, 18443),), listens=(18443,))
    text = "".join(drawing(layout(scene(BrokerAccess(topology=made.topology()))), live=True))
    assert ">*:18443 → 18443<" in text
    assert "published port 0.0.0.0+[::]:18443 → 18443" in text


def test_each_mark_has_a_sign_of_its_own() -> None:
    assert len({mark_sign(mark) for mark in Mark}) == len(Mark)
