"""The twin's flows know the connections that only the kernels have."""

from random import Random

from netdiag.traffic.engine.compiled.front import Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.run import CompiledEngine
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.compiled.openings import short_connections


def test_who_is_asked_for_is_there() -> None:
    options = EngineOptions(tables=frozenset({"exchanges"}))
    engine = CompiledEngine(options, ["a.pcap"])
    engine.feed(Front(Keys()).take(short_connections(Random(8), 20, odd=0.0, ports=100)))
    flows, lane = engine.twin.flows, engine.handover.lane
    born = lane.connections["number"][flows.births.slots()].tolist()
    known = len(flows.live)
    assert len(born) >= 3
    assert flows.most_born() == options.max_connections - known
    assert [flows.live.get(number).number for number in born[:3]] == born[:3]  # type: ignore[union-attr]
    assert flows.live.get(-12345) is None
    assert len(flows.live) == known + 3 == options.max_connections - flows.most_born()
