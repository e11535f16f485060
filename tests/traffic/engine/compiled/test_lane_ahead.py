"""A crowd of connections: what is asked for ahead, for packets of the lane and of the front, changes nothing."""

from random import Random

import pytest

from netdiag.traffic.engine.compiled import front_ahead, lane_ahead
from netdiag.traffic.engine.compiled.front import Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.lane_state import SLOTS_EVER
from netdiag.traffic.engine.compiled.run import CompiledEngine
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.compiled.compared import by_twin
from tests.traffic.engine.compiled.fronts import pieces
from tests.traffic.engine.compiled.openings import short_connections

_OPTIONS = EngineOptions(tables=frozenset({"exchanges"}))


@pytest.mark.parametrize("odd", [0.0, 0.001])
def test_rows_of_many_connections_are_those_of_the_twin(odd: float) -> None:
    data = short_connections(Random(21), 2000, odd=odd, ports=20_000)
    engine, keys = CompiledEngine(_OPTIONS, ["a.pcap"]), Keys()
    front = Front(keys)
    for piece in pieces(data, (200_000,)):
        engine.feed(front.take(piece))
    engine.feed(front.end())
    engine.finish()
    assert engine.handover.lane.numbers[SLOTS_EVER] > lane_ahead.FEW
    assert len(keys.arrays.slots) > front_ahead.FEW
    assert engine.drain()["exchanges"] == by_twin(data, _OPTIONS)["exchanges"]
