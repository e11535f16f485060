"""Equal topologies give equal pictures, small changes move little, and nothing lies upon anything else."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

import pytest

from netdiag.engine.container import Status
from netdiag.render.topology.broker_access import BrokerAccess
from netdiag.render.topology.layout import Picture, Rect, layout
from netdiag.render.topology.scene import scene
from netdiag.topology.graph import Topology
from tests.render.topology.ways import with_ways
from tests.topology.five_brokers import crowd, five_brokers, hostile, machine


def picture(topology: Topology) -> Picture:
    """The picture of a topology."""
    return layout(scene(BrokerAccess(topology=topology)))


def places(drawn: Picture) -> dict[str, Rect]:
    """Where each box is."""
    return {placed.box.key.partition(":")[2]: placed.rect for placed in drawn.boxes}


def rects(drawn: Picture) -> Iterable[tuple[str, Rect]]:
    """Everything that has an area of its own."""
    yield from ((placed.box.key, placed.rect) for placed in drawn.boxes)
    yield from ((placed.bar.key, placed.rect) for placed in drawn.bars)
    yield from ((pill.key, rect) for pill, rect in drawn.pills)
    yield from ((chip.key, rect) for chip, rect in drawn.chips)


def apart(a: Rect, b: Rect) -> bool:
    """Whether two rectangles have nothing in common."""
    return a.right <= b.x or b.right <= a.x or a.bottom <= b.y or b.bottom <= a.y


@pytest.mark.parametrize("topology", [five_brokers(), hostile(), crowd(60)], ids=["five", "hostile", "crowd"])
def test_nothing_lies_upon_anything_else(topology: Topology) -> None:
    drawn = picture(topology)
    everything = list(rects(drawn))
    assert [(a, b) for (a, ra), (b, rb) in combinations(everything, 2) if not apart(ra, rb)] == []
    inside = Rect(x=0, y=0, w=drawn.width, h=drawn.height)
    assert all(not apart(rect, inside) and rect.right <= drawn.width for _, rect in everything)
    assert len(drawn.boxes) == len(drawn.scene.boxes)


def test_equal_topologies_give_equal_pictures() -> None:
    assert picture(crowd(120)) == picture(crowd(120))


def test_a_verdict_a_warning_and_a_stop_move_nothing() -> None:
    before = places(picture(five_brokers()))
    assert places(picture(with_ways(five_brokers()))) == before
    stopped = machine()
    container = next(c for c in stopped.containers.values() if c.name == "shop-ui-1")
    stopped.containers[container.id] = replace(
        container, state=replace(container.state, status=Status.PAUSED), image="another"
    )
    assert places(picture(stopped.topology())) == before


def test_one_container_more_moves_none_that_stands_before_it() -> None:
    before = places(picture(five_brokers()))
    more = machine()
    more.container("shop-worker-1", service="worker", networks=("shop_kafka",))
    after = places(picture(more.topology()))
    moved = {name for name, rect in before.items() if after[name] != rect}
    assert moved == set()
    assert set(after) - set(before) == {"shop-worker-1"}


def test_a_second_shelf_does_not_move_the_first() -> None:
    made = machine()
    gone = next(key for key, one in made.containers.items() if one.name == "shop-client-1")
    del made.containers[gone]
    before, after = picture(made.topology()), picture(five_brokers())
    assert len({placed.rect.y for placed in after.boxes if placed.box.rows}) == 1
    brokers = {placed.box.key: placed.rect for placed in before.boxes if placed.box.rows}
    assert brokers == {placed.box.key: placed.rect for placed in after.boxes if placed.box.rows}


def test_one_network_more_in_a_crowd_moves_no_column() -> None:
    before, after = places(picture(crowd(120))), places(picture(crowd(140)))
    assert {name for name, rect in before.items() if after[name] != rect} == set()


def test_the_bar_of_a_network_on_two_shelves_is_tied_together() -> None:
    drawn = picture(five_brokers())
    parts = [placed for placed in drawn.bars if placed.bar.key == "network:shop_kafka"]
    assert [part.continues for part in parts] == [False, True]
    assert [stroke.kind for stroke in drawn.strokes if stroke.keys == ("network:shop_kafka",)] == ["spine"] * 3


def test_a_published_port_is_a_line_for_the_rule_and_one_for_the_proxy() -> None:
    drawn = picture(five_brokers())
    kinds = [stroke.kind for stroke in drawn.strokes if stroke.keys[0].startswith("port:0.0.0.0:9091")]
    assert kinds == ["dnat", "proxy"]
    topology = five_brokers()
    dead = replace(topology.published[0], dnat=(), proxies=())
    assert "dead" in [stroke.kind for stroke in picture(replace(topology, published=(dead,))).strokes]
