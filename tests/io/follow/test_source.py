"""A file that is read on as it grows; one that is another by now is told."""

import gzip
from pathlib import Path

import pytest

from netdiag.io.follow.source import BEGIN, Identity, Source
from netdiag.traffic.engine.state import decode, encode
from tests.io.spark.captures import conversation
from tests.traffic.engine.packets import pcap_file

DATA = pcap_file(conversation(1))
TIMES = [packet.time for packet in conversation(1)]


def source_of(path: Path, data: bytes) -> Source:
    path.write_bytes(data)
    identity = Identity(inode=path.stat().st_ino, begin=data[:BEGIN].hex())
    return Source(number=0, name=path.name, path=str(path), first_time=TIMES[0], late=0, identity=identity)


def times(source: Source) -> list[int]:
    found = []
    while source.head() is not None:
        found.append(source.take().time)
    return found


def test_a_file_is_read_up_to_the_last_whole_record_and_on_from_there(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    source = source_of(path, DATA)
    found: list[int] = []
    for size in (30, 200, 333, len(DATA) - 1, len(DATA)):
        source.allow(size, ended=False)
        found += times(source)
        assert not source.is_over
        source.close()
        source = Source.restored(decode(encode(source.state())))
    source.end()
    assert found + times(source) == TIMES
    assert source.is_over
    assert source.failure is None


def test_a_compressed_file_goes_on_within(tmp_path: Path) -> None:
    packed = gzip.compress(DATA)
    source = source_of(tmp_path / "a.pcap.gz", packed)
    source.allow(len(packed), ended=True)
    assert source.head() is not None
    first = [source.take().time for _ in range(3)]
    source.close()
    again = Source.restored(decode(encode(source.state())))
    assert first + times(again) == TIMES
    assert again.is_over


@pytest.mark.parametrize("how", ["removed", "anew", "shorter", "cut"])
def test_a_file_that_is_not_what_it_was_is_told(tmp_path: Path, how: str) -> None:
    path = tmp_path / "a.pcap"
    source = source_of(path, DATA)
    source.allow(300, ended=False)
    assert times(source)
    source.close()
    source.allow(len(DATA), ended=True)
    match how:
        case "removed":
            path.unlink()
        case "anew":
            path.write_bytes(pcap_file(conversation(2)))
        case "shorter":
            path.write_bytes(DATA[:200])
        case _:
            path.write_bytes(DATA[:-1])
    times(source)
    assert source.is_over
    assert source.failure is not None
    assert source.failure.kind == "removed"


def test_a_damaged_stream_is_told(tmp_path: Path) -> None:
    packed = gzip.compress(DATA)[:-20]
    source = source_of(tmp_path / "a.pcap.gz", packed)
    source.allow(len(packed), ended=True)
    times(source)
    assert source.failure is not None
    assert source.failure.kind == "truncated"
