"""How many packets the kernels leave to the twin, and how calm ones are counted."""

from netdiag.traffic.engine.compiled.front import Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.run import CompiledEngine
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.compiled.compared import by_kernels, by_twin, recorded
from tests.traffic.engine.compiled.conversations import conversation


def test_calm_connections_stay_in_the_arrays() -> None:
    engine = CompiledEngine(EngineOptions(), ["a.pcap"])
    engine.feed(Front(Keys()).take(conversation(500)))
    engine.finish()
    rows = engine.drain()
    assert len(rows["exchanges"]) == 500
    assert engine.odd < 20


def test_acknowledgements_and_windows_are_counted() -> None:
    data = conversation(100, acknowledged=True)
    assert by_kernels(data) == by_twin(data)


def test_every_piece_ends_where_it_wants() -> None:
    data = conversation(30, largest=37, acknowledged=True)
    for size in (1, 7, 90, 1000):
        assert by_kernels(data, (size,)) == by_twin(data), size


def test_recorded_captures_are_mostly_calm() -> None:
    for name, data in recorded():
        engine = CompiledEngine(EngineOptions(), ["a.pcap"])
        front = Front(Keys())
        packets = 0
        for chunk in (front.take(data), front.end()):
            engine.feed(chunk)
            packets += len(chunk.packets)
        assert engine.odd < packets, name
