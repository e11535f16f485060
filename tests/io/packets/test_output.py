"""Files that are complete whenever they end: names, rotation, a full disk, a reader that goes away."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.errors import InputError
from netdiag.io.packets.output import DiskFull, Output, Rotation, numbered
from netdiag.io.packets.pcapng_writer import (
    LINKTYPE_ETHERNET,
    LINKTYPE_RAW,
    Counters,
    Interface,
    Packers,
    encode_interface,
    encode_packet,
    encode_section,
    encode_statistics,
)
from tests.io.namespaces import needs_root
from tests.io.packets.traffic import fields, needs, packets_of

LINKS = [Interface(name="here:eth0", linktype=LINKTYPE_ETHERNET, snaplen=256)]
COUNTERS = {0: Counters(written=1, dropped=0, start=1, end=2)}
PACKERS = Packers()


def packets(many: int, size: int = 100, *, first: int = 0) -> list[bytes]:
    """Packets whose times are their numbers."""
    return [encode_packet(PACKERS, 0, number, bytes(size), size) for number in range(first, first + many)]


def output(path: Path, rotation: Rotation | None = None) -> Output:
    return Output(str(path), LINKS, application="tests", rotation=rotation)


def test_the_name_comes_last(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    one = output(path)
    one.write(packets(3))
    assert not path.exists()
    (part,) = tmp_path.iterdir()
    assert part.name.startswith("x.pcapng.")
    assert len(packets_of(part)) == 3
    one.finish(COUNTERS)
    assert [file.name for file in tmp_path.iterdir()] == ["x.pcapng"]
    assert one.files == [str(path)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_was_there_is_replaced_when_the_capture_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    path.write_text("old")
    one = output(path)
    one.write(packets(1))
    assert path.read_text() == "old"
    one.finish()
    assert len(packets_of(path)) == 1


def test_by_size_no_packet_is_cut_or_lost(tmp_path: Path) -> None:
    one = output(tmp_path / "x.pcapng", Rotation(size=2000))
    one.write(packets(40))
    one.write(packets(1, 5000, first=40))
    one.write(packets(2, first=41))
    one.finish()
    assert [Path(path).name for path in one.files] == sorted(path.name for path in tmp_path.iterdir())
    sizes = [os.path.getsize(path) for path in one.files]
    assert sum(size > 2000 for size in sizes) == 1
    assert [packet.time for path in one.files for packet in packets_of(Path(path))] == list(range(43))


def test_by_time_and_only_if_there_are_packets(tmp_path: Path) -> None:
    one = output(tmp_path / "x.pcapng", Rotation(seconds=0.001))
    for _ in range(3):
        one.write([])
        one.write(packets(2))
        os.sched_yield()
        subprocess.run(["sleep", "0.01"], check=True)
    one.finish()
    assert len(one.files) == 3


def test_the_oldest_go(tmp_path: Path) -> None:
    (tmp_path / "x-00001.pcapng.txt").write_text("not ours")
    one = output(tmp_path / "x.pcapng", Rotation(size=1000, keep=2))
    one.write(packets(60))
    one.finish()
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert len(kept) == 3
    assert one.removed == int(kept[-1][2:7]) - 2


def test_each_file_knows_its_interfaces(tmp_path: Path) -> None:
    links = LINKS[:]
    one = Output(str(tmp_path / "x.pcapng"), links, application="tests", rotation=Rotation(size=1200))
    one.write(packets(12))
    links.append(Interface(name="here:late", linktype=LINKTYPE_ETHERNET, snaplen=256))
    one.write([encode_packet(PACKERS, 1, 99, bytes(60), 60)] * 9)
    one.finish()
    names = [packet.interface for path in one.files for packet in packets_of(Path(path))]
    assert names == ["here:eth0"] * 12 + ["here:late"] * 9
    assert (one.per_interface(0), one.per_interface(1)) == (12, 9)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with little room."""
    needs_root()
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def fill(one: Output, pieces: list[list[bytes]]) -> None:
    for piece in pieces:
        one.write(piece)


def test_a_full_disk_leaves_a_whole_file(small_disk: Path) -> None:
    path = small_disk / "x.pcapng"
    one = output(path)
    pieces = [packets(10, first=start) for start in range(0, 10_000, 10)]
    with pytest.raises(DiskFull, match="no room"):
        fill(one, pieces)
    one.finish(COUNTERS)
    assert [file.name for file in small_disk.iterdir()] == ["x.pcapng"]
    times = [row[0] for row in fields(path, "frame.time_epoch")]
    assert times == [f"0.{number:09}" for number in range(one.written)]
    assert one.written > 100


def test_of_one_large_piece_the_part_that_fits_is_kept(small_disk: Path) -> None:
    one = output(small_disk / "x.pcapng")
    with pytest.raises(DiskFull):
        one.write(packets(2000))
    assert one.written > 300
    one.finish(COUNTERS)
    assert len(packets_of(small_disk / "x.pcapng")) == one.written


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as reader:
        one = output(fifo)
        one.write(packets(5))
        one.finish()
        (tmp_path / "copy.pcapng").write_bytes(reader.communicate(timeout=20)[0])
    assert len(packets_of(tmp_path / "copy.pcapng")) == 5
    assert stat.S_ISFIFO(fifo.stat().st_mode)


@pytest.mark.parametrize("where", ["missing/x.pcapng", "file/x.pcapng", "folder"])
def test_where_nothing_can_be_written(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        output(tmp_path / where)


def test_a_link_laid_in_the_way_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / f"x.pcapng.{os.getpid()}.part").symlink_to(victim)
    with pytest.raises(InputError, match="cannot be written"):
        output(tmp_path / "x.pcapng")
    assert victim.read_text() == "mine"


def test_under_sudo_the_file_is_the_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_root()
    monkeypatch.setenv("SUDO_UID", "65534")
    monkeypatch.setenv("SUDO_GID", "65534")
    one = output(tmp_path / "x.pcapng")
    one.finish()
    assert (tmp_path / "x.pcapng").stat().st_uid == 65534


def test_a_reader_of_standard_output_that_goes_away() -> None:
    program = (
        "from tests.io.packets.test_output import *\n"
        "from netdiag.io.packets.output import ReaderGone\n"
        "one = output('-')\n"
        "try:\n"
        "    while True: one.write(packets(100))\n"
        "except ReaderGone: one.finish(COUNTERS); sys.exit(7)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(1000)
        process.stdout.close()
        assert process.wait(timeout=20) == 7


def test_numbers_go_before_the_ending() -> None:
    assert numbered("a.b/x.pcapng", 3) == "a.b/x-00003.pcapng"
    assert numbered("a.b/x", 12) == "a.b/x-00012"


IP = bytes.fromhex("4500001c00010000401100000a0000010a000002") + bytes.fromhex("1f901f9000080000")
NAMES = ("broker-1:eth0", "приём:lo", "a\x1b[31mb:\u202ex", "x" * 70_000, "\udcff:eth0")


def written(path: Path, names: tuple[str, ...] = NAMES) -> Path:
    packers = Packers()
    blocks = [encode_section(application="netdiag 1", system="Linux 6", comment="why")]
    for name in names:
        blocks.append(encode_interface(Interface(name=name, linktype=LINKTYPE_RAW, snaplen=256, filter="tcp port 1")))
    for number in range(len(names)):
        for size in range(20, 28):
            blocks.append(encode_packet(packers, number, 1_700_000_000_123_456_789 + size, IP[:size], 1000 + size))
    counters = Counters(written=8, dropped=3, start=1_700_000_000_000_000_000, end=1_700_000_001_000_000_000)
    blocks += [encode_statistics(number, counters) for number in range(len(names))]
    path.write_bytes(b"".join(blocks))
    return path


def test_tshark_reads_names_times_and_lengths(tmp_path: Path) -> None:
    rows = fields(written(tmp_path / "x.pcapng", NAMES[:2]), "frame.interface_name", "frame.time_epoch", "frame.len")
    assert rows == [
        (name, f"1700000000.{123_456_789 + size}", str(1000 + size)) for name in NAMES[:2] for size in range(20, 28)
    ]


def test_capinfos_reads_everything_else(tmp_path: Path) -> None:
    needs("capinfos")
    path = written(tmp_path / "x.pcapng", NAMES[:2])
    said = subprocess.run(["capinfos", path], check=True, capture_output=True, text=True, timeout=60).stdout
    for line in (
        "Number of packets = 8",
        "Capture length = 256",
        "Time precision = nanoseconds (9)",
        "Filter string = tcp port 1",
        "Number of stat entries = 1",
        "Encapsulation = Raw IP",
        "Name = приём:lo",
    ):
        assert line in said
    assert "Capture comment:     why" in said
    assert "Capture application: netdiag 1" in said


def test_hostile_names_make_no_bad_file(tmp_path: Path) -> None:
    rows = fields(written(tmp_path / "x.pcapng"), "frame.interface_id", "frame.cap_len")
    assert rows == [(str(number), str(size)) for number in range(len(NAMES)) for size in range(20, 28)]


def test_an_interface_may_follow_packets(tmp_path: Path) -> None:
    packers = Packers()
    first, second = (Interface(name=name, linktype=LINKTYPE_ETHERNET, snaplen=0) for name in ("a", "b"))
    blocks = [encode_section(application="x"), encode_interface(first), encode_packet(packers, 0, 1, b"\0" * 60, 60)]
    blocks += [encode_interface(second), encode_packet(packers, 1, 2, b"\0" * 60, 60)]
    path = tmp_path / "x.pcapng"
    path.write_bytes(b"".join(blocks))
    assert fields(path, "frame.interface_name") == [("a",), ("b",)]
