"""An engine that is saved and goes on at any packet gives the same rows; foreign bytes are refused in one line."""

import os
import pickle
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from netdiag.traffic.native import DamagedState, Follower, ReadOptions
from tests.native.conversations import conversation, large, mixed
from tests.native.files import pcap_file
from tests.native.packets import Packet

OPTIONS = ReadOptions()


def rows_of(path: Path, packets: Sequence[Packet], cuts: Collection[int] = ()) -> dict[str, list[str]]:
    """The rows, sorted; the engine is saved and another one goes on before the packets at `cuts`."""
    data = pcap_file(packets)
    path.write_bytes(data)
    ends = [len(pcap_file(packets[:cut])) for cut in sorted(cuts)]
    rows: dict[str, list[str]] = {}

    def take(ready: Any) -> None:
        for name, batches in ready.items():
            rows.setdefault(name, []).extend(map(repr, (row for batch in batches for row in batch.rows())))

    follower = Follower(OPTIONS)
    for size in (*ends, len(data)):
        allow(follower, path, size)
        for ready in follower.read(None):
            take(ready)
        if size != len(data):
            follower = Follower(OPTIONS, follower.save())
    for ready in follower.finish():
        take(ready)
    return {name: sorted(each) for name, each in rows.items()}


def allow(follower: Follower, path: Path, size: int) -> None:
    """Let so many bytes of the only file be read."""
    follower.allow(
        number=0,
        name=path.name,
        path=str(path),
        first_time=0,
        late=0,
        inode=os.stat(path).st_ino,
        begin=path.read_bytes()[:64],
        size=size,
        ended=size == path.stat().st_size,
        quiet=True,
        gone=False,
    )


def state(path: Path) -> bytes:
    """What an engine saves that has read some packets."""
    packets = conversation(1)
    path.write_bytes(pcap_file(packets))
    follower = Follower(OPTIONS)
    allow(follower, path, len(pcap_file(packets[:5])))
    for _ in follower.read(None):
        pass
    return follower.save()


def test_saved_before_every_packet_it_gives_the_same_rows(tmp_path: Path) -> None:
    packets = mixed()
    whole = rows_of(tmp_path / "one.pcap", packets)
    assert {name for name, rows in whole.items() if rows} >= {"exchanges", "connections", "names", "endpoints"}
    assert any("10.0.9.1" in row for row in whole["exchanges"])
    assert rows_of(tmp_path / "one.pcap", packets, range(1, len(packets))) == whole


@pytest.mark.parametrize("lost", [None, 3, 150])
def test_a_large_message_goes_on_in_the_middle(tmp_path: Path, lost: int | None) -> None:
    packets = large(lost=lost)
    whole = rows_of(tmp_path / "one.pcap", packets)
    assert len(whole["exchanges"]) == 1
    assert len(whole["partitions"]) == (10 if lost is None or lost == 150 else len(whole["partitions"]))
    for cut in (1, 4, 100, 151, 200, len(packets) - 1):
        assert rows_of(tmp_path / "one.pcap", packets, {cut}) == whole


@pytest.mark.parametrize(
    "foreign", [b"", b"netdiag state 0\n", bytes(64), b"garbage" * 100, pickle.dumps({"files": 3})], ids=repr
)
def test_foreign_bytes_are_refused_in_one_line(foreign: bytes) -> None:
    with pytest.raises(DamagedState) as refused:
        Follower(OPTIONS, foreign)
    assert str(refused.value).isprintable()


def test_a_state_with_any_byte_changed_or_missing_is_refused(tmp_path: Path) -> None:
    saved = state(tmp_path / "one.pcap")
    Follower(OPTIONS, saved)
    for place in range(0, len(saved), max(1, len(saved) // 200)):
        changed = bytearray(saved)
        changed[place] ^= 0x40
        for bytes_ in (bytes(changed), saved[:place], saved[:place] + b"\0" + saved[place:]):
            with pytest.raises(DamagedState):
                Follower(OPTIONS, bytes_)
