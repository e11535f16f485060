"""Every thing of a scene is drawn with its key, its words and its sign; a file of it can be pressed nowhere."""

import re
from dataclasses import replace

import pytest

from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.render.topology.broker_access import BrokerAccess, Mark
from netdiag.render.topology.layout import Picture, layout
from netdiag.render.topology.scene import scene
from netdiag.render.topology.svg import drawing, mark_sign, total_height
from netdiag.topology.graph import Unmatched
from tests.render.topology.ways import with_ways
from tests.topology.five_brokers import five_brokers, machine

FINDING = Finding(
    rule="some-rule",
    severity=Severity.ERROR,
    message="nobody gets through",
    location=TopologyLocation(place="host", part="broker-1/EXTERNAL"),
)


@pytest.fixture(scope="module")
def picture() -> Picture:
    """Five brokers, with a finding on a listener and something that could not be matched."""
    topology = replace(with_ways(five_brokers()), unmatched=(Unmatched(subject="veth9", because="nobody's"),))
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
