"""Connections that are handed over again and again tell the same as those that are not."""

import random

from netdiag.traffic.engine.compiled.handover import TWINS, Handover, LaneConnection, more_than
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.compiled.run_twin import Twin
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.pairing import NO_RESPONSE, PRODUCE, UNANSWERED
from tests.traffic.engine.compiled.compared import Rows, by_twin, harmed, packets_of, recorded
from tests.traffic.engine.segments import segment


def by_handing_over(data: bytes) -> tuple[Rows, int]:
    """The rows of the twin where every calm connection is checked in after each packet, and how often that was."""
    handover = Handover()
    twin = Unpaired(EngineOptions(), ["a.pcap"], handover, lambda: None)
    times = 0
    for packet in packets_of(data):
        handover.touched = None
        twin.feed(packet)
        touched = handover.touched
        if touched is not None and touched.number in twin.flows.live:
            times += handover.check_in(touched, 0)
    twin.finish()
    return twin.drain(), times


class Unpaired(Twin):
    """A twin that makes rows of pairs at once, so that nothing but connections is handed over."""

    def _pair(self, connection, asked, answer, outcome):  # type: ignore[no-untyped-def]
        self._emit(connection, asked, answer, outcome)

    def _without(self, connection, count):  # type: ignore[no-untyped-def]
        for _ in range(count):
            asked = connection.chain.popleft()
            silent = asked.header.api_key == PRODUCE and asked.facts.acks == 0
            self._emit(connection, asked, None, NO_RESPONSE if silent else UNANSWERED)


def test_the_twin_finds_what_it_left() -> None:
    for name, data in recorded():
        rows, times = by_handing_over(data)
        assert rows == by_twin(data), name
        assert times > 20, name


def test_under_harm() -> None:
    for name, data in recorded():
        for seed in range(5):
            capture = harmed(data, random.Random(seed))
            assert by_handing_over(capture)[0] == by_twin(capture), (name, seed)


def test_pairs_of_addresses_know_whose_they_are() -> None:
    handover = Handover()
    connection = LaneConnection(1, segment(), "a.pcap", handover)
    handover.bind(connection, 7, 0)
    assert handover.lanes[7] == TWINS
    assert not handover.check_in(connection, NOTHING)
    connection.push(0, segment(payload=b"x"))
    assert handover.touched is connection
    assert handover.check_in(connection, NOTHING)
    assert handover.lanes[7] == 2 * connection.slot
    handover.check_out(connection)
    assert handover.lanes[7] == TWINS
    handover.unbind(connection)
    assert handover.lanes[7] < 0
    assert connection.slot == NOTHING


def test_there_is_much_more_room_at_once_until_there_is_enough() -> None:
    rooms = [256]
    while rooms[-1] < 1 << 18:
        rooms.append(more_than(rooms[-1]))
    assert rooms == [256, 8192, 1 << 17, 1 << 18]
