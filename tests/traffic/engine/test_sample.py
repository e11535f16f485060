"""The sample is a capture in which everything is answered, whichever format it has."""

import pytest

from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.records import CaptureReader
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.engine.sample import sample_pcap, sample_pcapng
from netdiag.traffic.tables import NAMES


@pytest.mark.parametrize("data", [sample_pcap(), sample_pcapng()], ids=["pcap", "pcapng"])
def test_every_exchange_is_read(data: bytes) -> None:
    reader, engine = CaptureReader(), Engine(EngineOptions(tables=frozenset(NAMES)), ["sample"])
    for packet in (*reader.feed(data), *reader.finish()):
        engine.feed(packet)
    engine.finish()
    rows = engine.drain()
    assert rows["losses"] == []
    (connection,) = rows["connections"]
    assert (connection.opening, connection.ending, connection.client_software) == ("complete", "fin", "netdiag 1")  # type: ignore[attr-defined]
    assert {row.decoded for row in rows["exchanges"]} == {"full"}  # type: ignore[attr-defined]
    outcomes = [row.outcome for row in rows["exchanges"]]  # type: ignore[attr-defined]
    assert outcomes.count("no-response") == 1
    assert outcomes.count("answered") == len(outcomes) - 1 > 10
    assert rows["batches"]
    assert rows["endpoints"]
    assert [row.request_offset for row in rows["partitions"] if row.api_key == 1] == [3, 3]  # type: ignore[attr-defined]
