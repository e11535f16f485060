"""Blocks that other programs read as they are meant."""

import subprocess
from pathlib import Path

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
from tests.io.packets.traffic import fields, needs

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
