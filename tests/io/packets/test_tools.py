"""tcpdump and dumpcap as processes of ours: they end with us, and what goes wrong is one line."""

import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.errors import NetdiagError
from netdiag.io.packets.engines import PcapDecoder, PcapngDecoder, Spool, Tool, ToolSource, in_order
from netdiag.io.packets.filters import Filter, of_expression, of_ports
from netdiag.io.packets.pcapng_writer import (
    LINKTYPE_ETHERNET,
    LINKTYPE_SLL2,
    Interface,
    Packers,
    encode_interface,
    encode_packet,
    encode_section,
)
from netdiag.io.packets.places import Place, named
from tests.io.namespaces import FAR, Pair
from tests.io.packets.traffic import SENDER, needs, python
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


@pytest.fixture
def place(pair: Pair) -> Iterator[Place]:
    made = Place(named(pair.near))
    yield made
    made.close()


def source(tool: Tool, place: Place, folder: Path, chosen: Filter) -> ToolSource:
    needs(tool)
    return ToolSource(
        tool, place, chosen, lambda *link: 0, snaplen=256, links=("eth0",), megabytes=4, folder=str(folder)
    )


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("tool", list(Tool))
def test_counts_and_leaves_nothing(pair: Pair, place: Place, tmp_path: Path, tool: Tool) -> None:
    made = source(tool, place, tmp_path, of_expression("udp"))
    python(pair.near, SENDER, FAR, 9092, 60)
    made.stop()
    blocks = []
    while not made.finished():
        blocks += made.read()
        time.sleep(0.02)
    blocks += made.read()
    time.sleep(0.2)
    assert (len(blocks), made.received, made.dropped) == (60, 60, 0)
    assert made.failure() is None
    made.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("tool", list(Tool))
def test_a_tool_that_is_killed_is_told(place: Place, tmp_path: Path, tool: Tool) -> None:
    made = source(tool, place, tmp_path, of_expression("udp"))
    made._process.kill()
    made._process.wait()
    failure = made.failure()
    assert f"{tool} has ended" in str(failure)
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize("tool", list(Tool))
def test_what_it_refuses_is_one_line(place: Place, tmp_path: Path, tool: Tool) -> None:
    bad = Filter(expression="tcp prt 1", ethernet=of_ports([1]).ethernet, ip=of_ports([1]).ip)
    with pytest.raises(NetdiagError, match="does not capture: ") as caught:
        source(tool, place, tmp_path, bad)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_where_no_spool_can_be(place: Place, tmp_path: Path) -> None:
    with pytest.raises(NetdiagError, match="no folder for the packets"):
        source(Tool.TCPDUMP, place, tmp_path / "absent", of_expression(""))


@pytest.mark.slow
@pytest.mark.parametrize("tool", list(Tool))
def test_it_ends_with_us_however_we_end(pair: Pair, tmp_path: Path, tool: Tool) -> None:
    needs(tool)
    program = (
        "import sys, time; from pathlib import Path\n"
        "from tests.io.packets.test_tools import *\n"
        f"made = source(Tool({str(tool)!r}), Place(named({pair.near!r})), Path({str(tmp_path)!r}), of_expression(''))\n"
        "print(made._process.pid, flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as us:
        assert us.stdout is not None
        pid = int(us.stdout.readline())
        assert is_there(pid)
        os.kill(us.pid, signal.SIGKILL)
        us.wait()
    end = time.monotonic() + 10
    while is_there(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_there(pid)
