"""Files of tcpdump and dumpcap, read in any pieces while they grow."""

import struct
import subprocess
from pathlib import Path

import pytest

from netdiag.errors import NetdiagError
from netdiag.io.packets.pcapng_writer import (
    LINKTYPE_ETHERNET,
    LINKTYPE_SLL2,
    Interface,
    Packers,
    encode_interface,
    encode_packet,
    encode_section,
)
from netdiag.io.packets.spool import PcapDecoder, PcapngDecoder, Spool
from netdiag.io.packets.tool import in_order
from tests.tools import tool

PACKERS = Packers()


def pcap(linktype: int, packets: list[bytes]) -> bytes:
    head = struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 256, linktype)
    return head + b"".join(
        struct.pack("=IIII", 1, number, len(data), 2000) + data for number, data in enumerate(packets)
    )


def expected(numbers: list[int], packets: list[bytes]) -> list[bytes]:
    return [
        encode_packet(PACKERS, number, 1_000_000_000 + at, data, 2000)
        for at, (number, data) in enumerate(zip(numbers, packets, strict=True))
        if number >= 0
    ]


@pytest.mark.parametrize("piece", [1, 7, 10_000])
def test_a_pcap_in_pieces(piece: int) -> None:
    packets = [bytes([n]) * n for n in range(30)]
    data = pcap(LINKTYPE_ETHERNET, packets)
    decoder = PcapDecoder(lambda link, linktype: 4)
    found = [block for at in range(0, len(data), piece) for block in decoder.feed(data[at : at + piece])]
    assert found == expected([4] * 30, packets)


def test_cooked_packets_tell_their_link() -> None:
    packets = [struct.pack("!HHIHBB8s", 0x0800, 0, index, 1, 0, 6, bytes(8)) + b"x" for index in (1, 2, 1, 3)]
    wanted = {1: 0, 3: 1}
    decoder = PcapDecoder(lambda link, linktype: wanted.get(int(link)) if linktype == LINKTYPE_SLL2 else None)
    assert decoder.feed(pcap(LINKTYPE_SLL2, packets)) == expected([0, -1, 0, 1], packets)


@pytest.mark.parametrize("piece", [1, 13, 10_000])
def test_a_pcapng_in_pieces(piece: int) -> None:
    links = [Interface(name=name, linktype=LINKTYPE_ETHERNET, snaplen=256) for name in ("eth0", "lo", "no")]
    packets = [bytes([n]) * n for n in range(9)]
    data = encode_section(application="x") + b"".join(map(encode_interface, links))
    data += b"".join(expected([0, 1, 2] * 3, packets))
    decoder = PcapngDecoder(lambda link, linktype: {"eth0": 5, "lo": 6}.get(str(link)))
    found = [block for at in range(0, len(data), piece) for block in decoder.feed(data[at : at + piece])]
    assert found == expected([5, 6, -1] * 3, packets)


def test_microseconds_become_nanoseconds(tmp_path: Path) -> None:
    source, made = tmp_path / "x.pcap", tmp_path / "x.pcapng"
    source.write_bytes(
        struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 256, 1) + struct.pack("=IIII", 3, 7, 4, 60) + b"abcd"
    )
    subprocess.run([tool("editcap"), "-F", "pcapng", source, made], check=True, capture_output=True)
    decoder = PcapngDecoder(lambda link, linktype: 0)
    assert decoder.feed(made.read_bytes()) == [encode_packet(PACKERS, 0, 3_000_007_000, b"abcd", 60)]


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 256, 1),
        pcap(1, [])[:24] + struct.pack("=IIII", 0, 0, 2**31, 0),
    ],
)
def test_what_tcpdump_never_writes(data: bytes) -> None:
    with pytest.raises(NetdiagError):
        PcapDecoder(lambda link, linktype: 0).feed(data)


def test_one_file_after_the_other_and_none_is_left(tmp_path: Path) -> None:
    packets = [bytes([n]) * 5 for n in range(6)]
    whole = expected([0] * 6, packets)
    spool = Spool(tmp_path, lambda: PcapDecoder(lambda link, linktype: 0), in_order)
    assert spool.read() == []
    names = ["spool.pcap", *(f"spool.pcap{n}" for n in range(1, 12))]
    first = pcap(1, packets)
    (tmp_path / names[0]).write_bytes(first[:50])
    assert spool.read() == whole[:1]
    (tmp_path / names[0]).write_bytes(first)
    assert spool.read() == whole[1:]
    for name in names[1:]:
        (tmp_path / name).write_bytes(first)
    read = 0
    while spool.read() == whole:
        read += 1
    assert read == 11
    assert [path.name for path in tmp_path.iterdir()] == names[-1:]
    spool.close()


def test_the_order_of_names() -> None:
    assert in_order(Path("/nonexistent")) == []
