"""What the compiled engine gives of files is what the plain one gives, whatever they are."""

import gzip
import threading
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from netdiag.io.captures import Captures
from netdiag.io.compiled_tables import Seen, read_sample, read_tables
from netdiag.traffic.arrow_rows import rows_of
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.engine.sample import sample_pcap, sample_pcapng
from netdiag.traffic.tables import NAMES
from tests.traffic.engine.capture_files import pcap

RECORDED = sorted(Path(__file__).parents[1].glob("fuzz/captures/*.pcap"))


def plain(paths: Sequence[str], options: EngineOptions) -> dict[str, list[tuple[Any, ...]]]:
    captures = Captures(paths)
    engine = Engine(options, [file.name for file in captures.files])
    for packet in captures.packets():
        engine.feed(packet)
    captures.finish(engine)
    return engine.drain()


def compiled(
    paths: Sequence[str], options: EngineOptions, seen: Seen | None = None, *, beside: bool = False
) -> dict[str, list[tuple[Any, ...]]]:
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in options.tables}
    for ready in read_tables(Captures(paths), options, seen=seen, least=5, beside=beside):
        for name, some in ready.rows.items():
            rows[name] += some
        for name, batches in ready.batches.items():
            for batch in batches:
                rows[name] += rows_of(batch)
    return rows


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Captures of every kind: both formats, packed, cut short, with damage; and real ones."""
    data = sample_pcap()
    contents = {
        "a.pcap": data,
        "b.pcapng": sample_pcapng(),
        "c.pcap.gz": gzip.compress(data),
        "d.pcap": data[: len(data) * 2 // 3],
        "e.pcap": data[:3000] + b"\xff" * 500 + data[3500:],
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return [*(str(tmp_path / name) for name in contents), *map(str, RECORDED)]


def test_every_file_has_the_same_rows(files: list[str]) -> None:
    for path in files:
        assert compiled([path], EngineOptions()) == plain([path], EngineOptions()), path


@pytest.mark.parametrize("beside", [False, True])
def test_files_that_overlap_have_the_same_rows(files: list[str], beside: bool) -> None:
    both = files[:2], files
    for paths in both:
        rows = compiled(paths, EngineOptions(), beside=beside)
        assert rows == plain(paths, EngineOptions())
        assert {row[-2] for row in rows["exchanges"]} <= set(paths)


@pytest.mark.parametrize(
    "options",
    [
        EngineOptions(tables=frozenset({"exchanges"}), flow_class=(1, 2)),
        EngineOptions(ports=frozenset({9092})),
        EngineOptions(topics=frozenset({"orders"}), clients=frozenset({"10.0.0.1"})),
        *(EngineOptions(tables=frozenset({name})) for name in NAMES),
    ],
    ids=lambda options: "-".join(sorted(options.tables)) if len(options.tables) < 3 else "filtered",
)
def test_options_are_kept(files: list[str], options: EngineOptions) -> None:
    paths = [files[0], *files[5:]]
    assert compiled(paths, options) == plain(paths, options)


def test_who_stops_early_leaves_no_thread_behind(files: list[str]) -> None:
    before = set(threading.enumerate())
    tables = read_tables(Captures(files), EngineOptions(), beside=True)
    next(tables)
    tables.close()
    assert set(threading.enumerate()) <= before


def test_packets_are_counted(files: list[str]) -> None:
    seen, captures = Seen(), Captures(files[:2])
    compiled(files[:2], EngineOptions(), seen)
    times = [packet.time for packet in captures.packets()]
    assert (seen.packets, seen.first, seen.last) == (len(times), min(times), max(times))


def test_the_sample_has_exchanges_in_both_formats() -> None:
    assert read_sample() == 2 * len(plain_sample())


def plain_sample() -> list[tuple[Any, ...]]:
    from netdiag.traffic.engine.records import CaptureReader

    reader, engine = CaptureReader(), Engine(EngineOptions(), ["sample"])
    for packet in (*reader.feed(sample_pcap()), *reader.finish()):
        engine.feed(packet)
    engine.finish()
    return engine.drain()["exchanges"]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_what_was_captured_in_several_places_is_put_together(path: Path, tmp_path: Path) -> None:
    """Each packet in one file of three, some in two of them."""
    rng = Random(path.name)
    parts: list[list[tuple[int, bytes]]] = [[], [], []]
    link = 0
    for packet in Captures([str(path)]).packets():
        link = packet.link_type
        for part in rng.sample(parts, rng.choice((1, 1, 1, 2))):
            part.append((packet.time, bytes(packet.data)))
    names = [str(tmp_path / f"{index}.pcap") for index in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        Path(name).write_bytes(pcap(part, link=link, nanoseconds=True))
    options = EngineOptions()
    meant = plain(names, options)
    assert meant["exchanges"]
    assert compiled(names, options) == meant
