"""The table answers for each broker and each place, by what clients end up with."""

from dataclasses import replace

import pytest

from netdiag.render.topology.broker_access import BrokerAccess, Mark, access_table
from netdiag.topology.graph import KafkaListener, PathEnd, Place, Reach, Topology
from tests.render.topology.traces import LAN_ADDRESS, way, with_traces
from tests.topology.five_brokers import five_brokers, without_brokers

BARE = five_brokers()
EXTERNAL = next(one for one in BARE.listeners if one.key.endswith("-1/EXTERNAL"))
INTERNAL = next(one for one in BARE.listeners if one.key.endswith("-1/INTERNAL"))
CLIENT = next(place for place in BARE.places if place.label == "client")
UI = next(place for place in BARE.places if place.label == "ui")


def reaching(*ways: Reach) -> Topology:
    """The five brokers with these ways only."""
    return replace(BARE, reach=ways)


def told(listener: KafkaListener, end: PathEnd, source: Place = CLIENT) -> Reach:
    """A way by the address that clients are told."""
    assert listener.advertised is not None
    return way(BARE, listener, source, listener.advertised, end, "because")


LAN = way(BARE, EXTERNAL, CLIENT, (LAN_ADDRESS, 9091), PathEnd.CONNECTED, "DNAT")


@pytest.mark.parametrize(
    ("ways", "mark", "text"),
    [
        ((told(INTERNAL, PathEnd.CONNECTED),), Mark.OK, "broker-1:29092"),
        ((told(EXTERNAL, PathEnd.REFUSED), told(INTERNAL, PathEnd.CONNECTED)), Mark.OK, "broker-1:29092"),
        ((LAN, told(EXTERNAL, PathEnd.REFUSED)), Mark.HALF, f"{LAN_ADDRESS}:9091, then localhost:9091: refused"),
        ((LAN, told(EXTERNAL, PathEnd.UNKNOWN)), Mark.UNKNOWN, f"{LAN_ADDRESS}:9091, then localhost:9091: unknown"),
        ((told(EXTERNAL, PathEnd.DROPPED), told(INTERNAL, PathEnd.UNRESOLVED)), Mark.BAD, "localhost:9091: dropped"),
        ((told(EXTERNAL, PathEnd.REFUSED), told(INTERNAL, PathEnd.UNKNOWN)), Mark.UNKNOWN, "broker-1:29092: unknown"),
        ((), Mark.NONE, "not tried"),
    ],
)
def test_a_cell(ways: tuple[Reach, ...], mark: Mark, text: str) -> None:
    cell = BrokerAccess(topology=reaching(*ways)).cell(ways)
    assert (cell.mark, cell.text) == (mark, text)


def test_whoever_is_led_to_another_container_has_not_reached_the_broker() -> None:
    right = told(INTERNAL, PathEnd.CONNECTED)
    wrong = replace(right, path=replace(right.path, target=UI.netns))
    cell = BrokerAccess(topology=reaching(wrong)).cell((wrong,))
    assert (cell.mark, cell.text) == (Mark.BAD, f"broker-1:29092: another place answers, {UI.name}")


def test_what_a_broker_gets_of_itself_tells_nothing_of_others() -> None:
    broker = next(place for place in BARE.places if EXTERNAL.container in place.containers)
    own = told(EXTERNAL, PathEnd.CONNECTED, broker)
    alone, among = (
        BrokerAccess(topology=reaching(own)),
        BrokerAccess(topology=reaching(own, told(EXTERNAL, PathEnd.UNKNOWN))),
    )
    assert alone.listener(EXTERNAL.key) == (Mark.OK, 1, 1)
    assert among.listener(EXTERNAL.key) == (Mark.UNKNOWN, 0, 1)
    assert [column.sources for column in access_table(among).columns] == [(CLIENT.name,)]


def test_places_that_see_the_same_share_a_column() -> None:
    table = access_table(BrokerAccess(topology=with_traces(BARE)))
    assert table.brokers == tuple(f"broker-{number}" for number in range(1, 6))
    assert [len(column.sources) for column in table.columns] == [1, 7]
    assert table.columns[0].sources == ("host",)
    assert table.summary == "8 of 8 places can reach all 5 brokers."


@pytest.mark.parametrize(
    ("topology", "summary"),
    [
        (without_brokers(BARE), "No Kafka listener is known here."),
        (BARE, "The paths to all 5 brokers are not traced yet."),
        (reaching(told(EXTERNAL, PathEnd.UNKNOWN)), "0 of 1 place can reach all 5 brokers; unknown from 1."),
        (reaching(told(EXTERNAL, PathEnd.REFUSED)), "0 of 1 place can reach all 5 brokers; some paths from 1 fail."),
    ],
)
def test_the_summary(topology: Topology, summary: str) -> None:
    assert access_table(BrokerAccess(topology=topology)).summary == summary


def test_a_listener_over_all_places() -> None:
    works, fails = told(EXTERNAL, PathEnd.CONNECTED, UI), told(EXTERNAL, PathEnd.REFUSED)
    for ways, said in (
        ((works, fails), (Mark.OK, 1, 2)),
        ((works, fails, LAN), (Mark.HALF, 1, 2)),
        ((fails,), (Mark.BAD, 0, 1)),
        ((told(EXTERNAL, PathEnd.UNKNOWN), told(EXTERNAL, PathEnd.REFUSED, UI)), (Mark.UNKNOWN, 0, 2)),
        ((LAN,), (Mark.NONE, 0, 0)),
    ):
        assert BrokerAccess(topology=reaching(*ways)).listener(EXTERNAL.key) == said
