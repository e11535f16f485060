"""Equal topologies give equal pictures, what belongs together is near, and nothing lies upon anything else."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from netdiag.engine.container import Status
from netdiag.render.topology.broker_access import BrokerAccess
from netdiag.render.topology.layout import LARGE, Order, Picture, Rect, layout, order
from netdiag.render.topology.scene import Attachment, Bar, BarKind, Box, Scene, scene
from netdiag.topology.graph import Topology
from tests.render.topology.traces import with_traces
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
    assert places(picture(with_traces(five_brokers()))) == before
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


def chain(networks: int, members: int) -> Scene:
    """Networks in a long chain, each sharing one box with the next, their names telling nothing of it."""
    names = [f"net-{number}" for number in range(networks)]
    Random(5).shuffle(names)
    boxes = [Box(key=f"place:{n}-{m}", title=f"{n}-{m}", name=f"{n}-{m}") for n in names for m in range(members)]
    bars = []
    for index, name in enumerate(names):
        own = [Attachment(place=f"place:{name}-{m}") for m in range(members)]
        before = [Attachment(place=f"place:{names[index - 1]}-0")] if index else []
        bars.append(Bar(key=f"network:{name}", kind=BarKind.NETWORK, title=name, attachments=(*own, *before)))
    return Scene(boxes=tuple(boxes), bars=tuple(bars), pills=(), chips=(), host="host")


def span(found: Order) -> int:
    """By how many places the networks of one box lie apart, summed over all boxes."""
    bars = [key for group in found.groups for key in group.bars]
    rank = {key: index for index, key in enumerate(bars)}
    return sum(rank[keys[-1]] - rank[keys[0]] for keys in found.bars_of.values())


def names_of(boxes: Sequence[Box]) -> list[str]:
    """The titles of boxes."""
    return [box.title for box in boxes]


def test_brokers_come_first_and_networks_that_share_nobody_are_groups_of_their_own() -> None:
    found = order(scene(BrokerAccess(topology=five_brokers())))
    assert names_of(found.groups[0].boxes)[:5] == [f"broker-{number}" for number in range(1, 6)]
    assert found.groups[0].bars == ("network:shop_kafka", "network:shop_front")
    assert found.bars_of["place:shop-client-1"] == ("network:shop_kafka", "network:shop_front")
    assert names_of(found.groups[-1].boxes) == ["lan"], "who hangs from nothing comes last"
    assert not found.note


def test_in_a_crowd_networks_that_share_members_are_neighbours() -> None:
    crowd = chain(30, 5)
    assert len(crowd.boxes) > LARGE
    found = order(crowd)
    assert span(found) == 29, "each of them is next to the one it shares a box with"
    assert found == order(replace(crowd, bars=tuple(reversed(crowd.bars))))


def test_the_order_of_a_crowd_does_not_depend_on_how_many_hang_from_a_network() -> None:
    before, after = order(chain(30, 5)), order(chain(30, 6))
    assert [group.bars for group in before.groups] == [group.bars for group in after.groups]


def test_without_the_library_names_decide_and_the_picture_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    found = order(chain(30, 5))
    assert found.groups[0].bars == tuple(f"network:net-{number}" for number in range(30))
    assert "extra picture" in found.note
    assert not order(chain(3, 2)).note
