"""Files read piece by piece come in the order in which they come all at once."""

import random
from pathlib import Path

import pytest

from netdiag.io.captures import Captures
from netdiag.io.follow.merging import Merge
from netdiag.io.follow.source import BEGIN, Identity, Source
from netdiag.traffic.engine.packet import Packet
from netdiag.traffic.engine.state import decode, encode
from tests.traffic.engine.packets import pcap_file, tcp_packet


def packets(chance: random.Random, first: int) -> list[Packet]:
    """A few packets whose times are nearly in order; the same times come in many files."""
    times = [first + number // 2 + chance.choice((0, 0, 0, 1, -1)) for number in range(chance.randint(1, 30))]
    return [tcp_packet("10.0.0.1:1", "10.0.0.2:2", time=max(1, time), sequence=time) for time in times]


@pytest.mark.parametrize("seed", range(60))
def test_the_order_is_that_of_captures(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    merge, found = Merge(), []
    firsts = sorted(chance.randint(1, 40) for _ in range(chance.randint(1, 6)))
    for number, first in enumerate(firsts):
        path = tmp_path / f"{chance.randint(0, 9)}-{number}.pcap"
        data = pcap_file(packets(chance, first))
        path.write_bytes(data)
        identity = Identity(inode=path.stat().st_ino, begin=data[:BEGIN].hex())
        start = Captures([str(path)]).files[0].first_time
        source = Source(number=number, name=path.name, path=str(path), first_time=start, late=0, identity=identity)
        source.allow(len(data), ended=True)
        merge.add(source)
    for until in sorted(chance.choices(range(60), k=chance.randint(0, 8))):
        found += [(p.time, p.number, merge_name(merge, p)) for p in list(merge.packets(until * 1_000_000))]
        merge.close()
        merge = Merge.restored(decode(encode(merge.state())))
    found += [(p.time, p.number, merge_name(merge, p)) for p in merge.packets(None)]
    captures = Captures([str(tmp_path)])
    names = {file.index: file.name for file in captures.files}
    numbers = {int(Path(name).stem.partition("-")[2]): name for name in names.values()}
    whole = [(p.time, p.number, names[p.file]) for p in captures.packets()]
    assert [(time, number, numbers[file]) for time, number, file in found] == whole
    assert merge.sources == {}


def merge_name(merge: Merge, packet: Packet) -> int:
    """Which file a packet is of."""
    del merge
    return packet.file


def test_nothing_passes_a_file_that_may_have_more(tmp_path: Path) -> None:
    merge = Merge()
    for number, times in enumerate(([1, 5], [3, 9])):
        data = pcap_file([tcp_packet("10.0.0.1:1", "10.0.0.2:2", time=time) for time in times])
        path = tmp_path / f"{number}.pcap"
        path.write_bytes(data)
        identity = Identity(inode=path.stat().st_ino, begin=data[:BEGIN].hex())
        first = times[0] * 1_000_000
        source = Source(number=number, name="", path=str(path), first_time=first, late=0, identity=identity)
        source.allow(len(data), ended=False)
        merge.add(source)
    assert [packet.time // 1_000_000 for packet in merge.packets(None)] == [1, 3, 5]
    merge.sources[0].allow(0, ended=False, quiet=True)
    assert [packet.time // 1_000_000 for packet in merge.packets(None)] == [9]
    assert merge.ended() == []
    for source in merge.sources.values():
        source.end()
    assert list(merge.packets(None)) == []
    assert sorted(source.number for source in merge.ended()) == [0, 1]
