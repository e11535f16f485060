"""Who reaches which broker: grouped, in words that hold for every broker of a group."""

from dataclasses import replace

from netdiag.render.screen import Screen, paint
from netdiag.render.topology.branches import draw_branches
from netdiag.render.topology.lookup import Lookup
from netdiag.render.topology.tree import reach_branches
from netdiag.render.wording import endpoint_text, first_and_last
from netdiag.topology.graph import PathEnd, Reach, Topology
from tests.render.topology.topologies import cluster


def text(topology: Topology, width: int = 140) -> str:
    return paint(draw_branches(reach_branches(Lookup(topology), Screen()), Screen(width=width)), Screen(width=width))


def changed(topology: Topology, listener: str, source: str, end: PathEnd) -> Topology:
    def one(reach: Reach) -> Reach:
        if (reach.listener, reach.source) != (listener, source):
            return reach
        return replace(reach, path=replace(reach.path, end=end, because="a rule says so"))

    return replace(topology, reach=tuple(one(reach) for reach in topology.reach))


def test_brokers_that_behave_alike_are_told_together() -> None:
    assert text(cluster(5)).splitlines() == [
        "INTERNAL of broker-1 to broker-5",
        "`- broker-1:29092 to broker-5:29092  reached from itself, the other brokers"
        "  unresolved from host: the host knows no such name",
        "EXTERNAL of broker-1 to broker-5",
        "`- localhost:9091 to localhost:9095  reached from itself, host"
        "  refused from the other brokers: nothing listens on 127.0.0.1:9091 there",
    ]


def test_one_that_behaves_otherwise_is_told_apart() -> None:
    told = text(changed(cluster(5), "broker-3/EXTERNAL", "host", PathEnd.DROPPED))
    assert "EXTERNAL of broker-1 to broker-5\n" in told
    assert "EXTERNAL of broker-3\n`- localhost:9093  reached from itself  " in told
    assert "dropped from host: a rule says so" in told


def test_addresses_that_are_not_advertised_come_last_and_say_so() -> None:
    topology = cluster(1)
    other = replace(topology.reach[0], destination="172.18.0.2", advertised=False)
    told = text(replace(topology, reach=(other, *topology.reach)))
    assert told.index("broker-1:29092") < told.index("172.18.0.2:29092 (not advertised)")


def test_many_sources_are_counted() -> None:
    topology = cluster(1)
    many = tuple(replace(topology.reach[0], source=f"client-{n}") for n in range(200))
    assert "client-4, client-5 and 194 more: the host knows no such name" in text(replace(topology, reach=many))


def test_nothing_where_nobody_tried() -> None:
    assert reach_branches(Lookup(replace(cluster(), reach=())), Screen()) == []


def test_words() -> None:
    assert endpoint_text("::1", 9092) == "[::1]:9092"
    assert first_and_last(["a", "b"]) == "a, b"
    assert first_and_last(["a1", "a2", "a3"]) == "a1 to a3"
