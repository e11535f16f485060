"""Captures that are made: what is in them is what the maker says, for our engine and for tshark."""

import subprocess
from pathlib import Path

import pytest

from tests.bench.captures import Capture, Recipe
from tests.bench.making import make
from tests.bench.peers import Tshark, messages, tshark
from tests.native.reading import rows_of_files


@pytest.mark.parametrize(("connections", "largest"), [(1, 0), (7, 0), (60, 0), (300, 0), (60, 100_000)])
def test_every_exchange_that_is_made_is_found_whole(tmp_path: Path, connections: int, largest: int) -> None:
    path = tmp_path / "made.pcap"
    made = make(path, 500_000, connections=connections, largest=largest)
    rows = rows_of_files(path, tables=frozenset({"exchanges", "losses", "connections"}))
    exchanges = rows["exchanges"]
    assert len(exchanges) == made.exchanges >= connections
    assert {(row.outcome, row.decoded) for row in exchanges} == {("answered", "full")}
    assert len(rows["connections"]) == connections
    assert rows["losses"] == []
    assert path.stat().st_size > 400_000
    assert max(row.response_bytes or 0 for row in exchanges) > largest


def test_what_is_seen_several_times_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "made.pcap"
    made = make(path, 500_000, connections=20, sightings=3)
    rows = rows_of_files(path, tables=frozenset({"exchanges", "losses", "connections"}))
    assert len(rows["exchanges"]) == made.exchanges
    assert {len(row.seen_as or ()) for row in rows["connections"]} == {2}
    assert len(rows["connections"]) == 20
    assert rows["losses"] == []


def test_tshark_finds_as_many(tmp_path: Path) -> None:
    found = tshark()
    if found is None:
        pytest.skip("no command 'tshark'")
    path = tmp_path / "made.pcap"
    made = make(path, 300_000, connections=50)
    assert _counted(found, path, tmp_path / "output") == 2 * made.exchanges


def _counted(found: Tshark, path: Path, output: Path) -> int:
    capture = Capture(path=path, recipe=Recipe(mix="made", megabytes=1), ports=(9092,), packets=0)
    with output.open("wb") as file:
        subprocess.run(found.command(capture), stdout=file, stderr=subprocess.DEVNULL, check=True)
    return messages(output)
