"""Captures that are grown: copies stay whole, and are told apart by address and time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.growing import cut, grow
from tests.bench.making import make
from tests.native.reading import rows_of_files


def _exchanges(path: Path) -> Sequence[Any]:
    return rows_of_files(path, tables=frozenset({"exchanges"}))["exchanges"]


def _packets(path: Path) -> int:
    return len(rows_of_files(path, tables=frozenset({"packets"}))["packets"])


def test_copies_are_clusters_of_their_own_one_after_another(tmp_path: Path) -> None:
    seed, grown = tmp_path / "seed.pcap", tmp_path / "grown.pcap"
    made = make(seed, 200_000, connections=8)
    size = seed.stat().st_size
    packets = grow(seed, grown, 3 * size, (9092,))
    assert packets >= 3 * made.packets - 1
    rows = _exchanges(grown)
    assert 3 * made.exchanges - 1 <= len(rows) <= 3 * made.exchanges
    assert len({row.broker for row in rows}) == 3
    assert len({row.client for row in rows}) == 24
    times = [row.time for row in rows]
    assert times == sorted(times)


def test_what_is_cut_off_ends_at_a_packet(tmp_path: Path) -> None:
    seed, grown, part = tmp_path / "seed.pcap", tmp_path / "grown.pcap", tmp_path / "part.pcap"
    made = make(seed, 200_000, connections=8)
    size = seed.stat().st_size * 5 // 2
    packets = grow(seed, grown, size, (9092,))
    assert size - 2000 < grown.stat().st_size <= size
    assert 2 * made.packets < packets < 3 * made.packets
    assert _packets(grown) == packets
    packets = cut(seed, part, 100_001)
    assert 98_000 < part.stat().st_size <= 100_001
    assert _packets(part) == packets
