"""What hangs together stands together, brokers first; in a crowd networks that share members are neighbours."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from netdiag.render.topology.broker_access import BrokerAccess
from netdiag.render.topology.layout import LARGE, Order, order
from netdiag.render.topology.scene import Attachment, Bar, BarKind, Box, Scene, scene
from tests.topology.five_brokers import five_brokers


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
