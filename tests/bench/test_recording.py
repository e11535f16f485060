"""Real clients, recorded for a moment in a network of their own."""

from pathlib import Path

import pytest

from netdiag.io.captures import Captures
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.rows import ExchangeRow
from tests.bench.recording import CannotRecord, record


@pytest.mark.bar("engine-rate", long=True)
def test_what_clients_say_is_in_the_capture(tmp_path: Path) -> None:
    path = tmp_path / "seed.pcap"
    try:
        recording = record(path, "chatty", 8)
    except CannotRecord as error:
        pytest.skip(str(error))
    captures = Captures([str(path)])
    engine = Engine(EngineOptions(tables=frozenset({"exchanges"})), [str(path)])
    sizes = []
    for packet in captures.packets():
        sizes.append(packet.length)
        engine.feed(packet)
    engine.finish()
    rows = [ExchangeRow(*row) for row in engine.drain()["exchanges"]]
    assert {int(row.broker.rpartition(":")[2]) for row in rows} == set(recording.ports)
    assert recording.dropped == 0
    assert {"Produce", "Metadata", "ApiVersions", "JoinGroup"} <= {row.api_name for row in rows}
    # cut to the wire, not to the memory of the loopback interface
    assert max(sizes) <= 1514
