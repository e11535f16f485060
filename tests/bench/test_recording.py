"""Real clients, recorded for a moment in a network of their own."""

from pathlib import Path

import pytest

from tests.bench.recording import CannotRecord, record
from tests.native.reading import rows_of_files


@pytest.mark.bar("engine-rate", long=True)
def test_what_clients_say_is_in_the_capture(tmp_path: Path) -> None:
    path = tmp_path / "seed.pcap"
    try:
        recording = record(path, "chatty", 8)
    except CannotRecord as error:
        pytest.skip(str(error))
    rows = rows_of_files(path, tables=frozenset({"exchanges"}))["exchanges"]
    sizes = [packet.length for packet in rows_of_files(path, tables=frozenset({"packets"}))["packets"]]
    assert {int(row.broker.rpartition(":")[2]) for row in rows} == set(recording.ports)
    assert recording.dropped == 0
    assert {"Produce", "Metadata", "ApiVersions", "JoinGroup"} <= {row.api_name for row in rows}
    # cut to the wire, not to the memory of the loopback interface
    assert max(sizes) <= 1514
