"""Captures as arrays of packets: the same packets in the same order as one by one."""

import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from netdiag.errors import InputError
from netdiag.io.captures import Captures
from netdiag.io.chunks import read_chunks
from netdiag.traffic.engine.compiled.front import Chunk
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.links import decode_packet
from netdiag.traffic.engine.packet import Packet
from netdiag.traffic.engine.walk import Decoded
from tests.traffic.engine.capture_files import SECOND, START, enhanced, interface, pcap, section
from tests.traffic.engine.compiled.fronts import explained, unpacked
from tests.traffic.engine.frames import ethernet, ipv4, tcp

Given = list[tuple[Packet, Decoded]]


def _by_chunks(captures: Captures, piece: int, *, can_merge: bool = False) -> tuple[Given, int]:
    found: Given = []
    chunks = 0
    for each in read_chunks(captures, Keys(), piece=piece, can_merge=can_merge):
        if isinstance(each, Chunk):
            chunks += 1
            found += [(packet, decoded) for packet, decoded, _ in unpacked(each)]
        else:
            found.append((each, decode_packet(each)))
    return found, chunks


def _same(paths: Sequence[str], piece: int = 5000, **options: int) -> int:
    """The number of chunks."""
    one = Captures(paths, **options)
    meant = [(packet._replace(data=memoryview(bytes(packet.data))), decode_packet(packet)) for packet in one.packets()]
    for can_merge in (True, False):
        other = Captures(paths, **options)
        found, chunks = _by_chunks(other, piece, can_merge=can_merge)
        assert found == meant
        for file, twin in zip(other.files, one.files, strict=True):
            assert explained(file.account) == explained(twin.account)
            assert (file.read_bytes, file.size) == (twin.read_bytes, twin.size)
    return chunks


def _capture(random: Random, times: Sequence[int], *, port: int = 40_000) -> bytes:
    made = [(START + time, ethernet(ipv4(tcp(random.randbytes(random.randrange(300)), source=port)))) for time in times]
    if random.random() < 0.5:
        return pcap(made, nanoseconds=True)
    return section() + interface() + b"".join(enhanced(time // 1000, data) for time, data in made)


def _files(folder: Path, random: Random, spans: Sequence[tuple[int, int]]) -> list[str]:
    names = []
    for index, (begin, end) in enumerate(spans):
        times = sorted(random.randrange(begin * SECOND, end * SECOND) // 1000 * 1000 for _ in range(200))
        data = _capture(random, times, port=40_000 + index)
        name = folder / f"{index}.pcap"
        name.write_bytes(gzip.compress(data) if index % 3 == 2 else data)
        names.append(str(name))
    return names


@pytest.mark.parametrize("piece", [100, 5000, 1 << 20])
def test_files_that_follow_one_another_are_given_in_whole_chunks(tmp_path: Path, piece: int) -> None:
    names = _files(tmp_path, Random(1), [(index * 10, index * 10 + 9) for index in range(7)])
    chunks = _same(names[::-1], piece)
    assert chunks == 7 or piece < 1 << 20


@pytest.mark.parametrize("seed", range(4))
def test_files_that_overlap_are_interleaved(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    spans = [(begin, begin + random.choice((1, 5, 50))) for begin in (random.randrange(30) for _ in range(6))]
    names = _files(tmp_path, random, spans)
    assert _same(names, random.choice((500, 5000, 1 << 20))) > 6
    assert _same(names, 5000, since_ns=START + 10 * SECOND, until_ns=START + 20 * SECOND)


def test_files_that_overlap_are_merged_where_that_is_asked_for(tmp_path: Path) -> None:
    names = _files(tmp_path, Random(4), [(0, 10), (0, 10), (5, 15)])
    packets = [
        len(each.packets) if isinstance(each, Chunk) else 0
        for each in read_chunks(Captures(names), Keys(), piece=1 << 20, can_merge=True)
    ]
    assert sum(packets) > 590
    assert len(packets) < 10


def test_packets_at_the_same_time_or_back_in_time(tmp_path: Path) -> None:
    random, names = Random(9), []
    for index in range(4):
        times = [random.randrange(6) * SECOND for _ in range(100)]
        (tmp_path / str(index)).write_bytes(_capture(random, times))
        names.append(str(tmp_path / str(index)))
    _same(names)


def test_a_damaged_stream_is_told_as_ever(tmp_path: Path) -> None:
    whole = gzip.compress(_capture(Random(2), range(0, 10**9, 10**7)), 0)
    (tmp_path / "cut.gz").write_bytes(whole[:-3000])
    (tmp_path / "cut.pcap").write_bytes(_capture(Random(2), range(0, 10**9, 10**7))[:-7])
    (tmp_path / "empty.pcap").write_bytes(pcap([]))
    for name in ("cut.gz", "cut.pcap", "empty.pcap"):
        _same([str(tmp_path / name)])
    _same([str(tmp_path)])


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    data = _capture(Random(3), range(0, 10**9, 10**7))
    (tmp_path / "file").write_bytes(data)
    found, _ = _by_chunks(Captures([str(tmp_path / "file")]), 5000)
    reading, writing = os.pipe()
    with open(writing, "wb") as stream:
        stream.write(data)
    piped, _ = _by_chunks(Captures([f"/dev/fd/{reading}"]), 5000)
    os.close(reading)
    assert piped == found


def test_a_file_that_goes_away_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(_capture(Random(3), range(10)))
    captures = Captures([str(tmp_path / "file")])
    (tmp_path / "file").unlink()
    with pytest.raises(InputError) as told:
        list(read_chunks(captures, Keys()))
    assert told.value.where == str(tmp_path / "file")
