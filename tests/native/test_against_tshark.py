"""Every header of every packet is what tshark reads: captures by others, and layers that scapy stacks at random."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from tests.compose.tracing import CORPUS
from tests.figures import Report as Figure
from tests.native.files import START, enhanced, interface, pcap, section
from tests.native.nested import icmp_error, nested
from tests.native.packets import SYN, ipv4, ipv6, tcp
from tests.native.reading import rows_of_bytes, rows_of_files

CAPTURES = sorted((CORPUS.parent / "pcaps").glob("**/*.pcap*"))
# In the order of the columns; of nested headers the last one is the innermost.
_FIELDS = (
    *("frame.number", "frame.time_epoch", "frame.len", "frame.cap_len", "frame.protocols"),
    *("ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "tcp.srcport", "tcp.dstport"),
    *("tcp.seq_raw", "tcp.ack_raw", "tcp.flags", "tcp.window_size_value", "tcp.len", "tcp.payload"),
)
_SETTINGS = ("ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE")


class Segment(NamedTuple):
    """The columns of `segments` that tshark shows."""

    source: str
    destination: str
    sequence: int
    acknowledgement: int
    flags: int
    window: int
    length: int
    captured: int


class Frame(NamedTuple):
    """A packet: its number, its time in nanoseconds, its lengths, and its segment if it carries one."""

    number: int
    time: int
    length: int
    captured: int
    segment: Segment | None


@pytest.fixture(scope="session")
def tshark() -> str:
    """Where it is."""
    found = shutil.which("tshark")
    if found is None:
        pytest.skip("no command 'tshark'")
    return found


@pytest.mark.slow
@pytest.mark.skipif(not CAPTURES, reason="shared corpus absent")
def test_captures_by_others_are_what_tshark_reads(tshark: str, figure: Figure) -> None:
    with ThreadPoolExecutor(4) as pool:
        expected = list(pool.map(lambda file: shown(tshark, file), CAPTURES))
    found = [read(file) for file in CAPTURES]
    _hold_against(found, expected)
    packets, segments = _counted(found)
    figure("packets of captures by others as tshark", packets, "packets")
    assert segments > 100


@pytest.mark.slow
@pytest.mark.parametrize("snaplen", [262_144, 128, 64])
def test_layers_stacked_at_random_are_what_tshark_reads(
    tshark: str, tmp_path: Path, snaplen: int, figure: Figure
) -> None:
    """One file with an interface of every link type; each packet is read by itself."""
    random = Random(snaplen)
    made = [nested(random) for _ in range(600)]
    if snaplen < 1500:
        # tshark looks into no attribute of NFLOG that is cut off.
        made = [(link, data) for link, data in made if link != 239]
    links = sorted({link for link, _ in made})
    parts = [section(), *(interface(link=link) for link in links)]
    for index, (link, data) in enumerate(made):
        parts.append(enhanced(START // 1000 + index, data[:snaplen], index=links.index(link), wire=len(data)))
    file = tmp_path / "nested.pcapng"
    file.write_bytes(b"".join(parts))
    found = [read(file)]
    _hold_against(found, [shown(tshark, file)])
    packets, segments = _counted(found)
    figure(f"packets in random layers at snaplen {snaplen} as tshark", packets, "packets")
    assert segments > (580 if snaplen > 1500 else 50)


@pytest.mark.slow
def test_icmp_errors_are_about_what_tshark_reads(tshark: str, tmp_path: Path, figure: Figure) -> None:
    """The connections that are unreachable are those which tshark reads in an error, where each has sent a SYN."""
    random = Random(1)
    errors = [icmp_error(random)[1] for _ in range(400)]
    file = tmp_path / "icmp.pcap"
    file.write_bytes(pcap([(START, error) for error in errors], link=101))
    expected = unreachables(tshark, file)
    packets: list[tuple[int, bytes]] = []
    ends: set[tuple[str, str]] = set()
    for error, told in zip(errors, expected, strict=True):
        for source, destination, source_port, destination_port in [told] if told else []:
            layer = ipv6 if ":" in source else ipv4
            segment = tcp(source=source_port, destination=destination_port, flags=SYN, sequence=len(packets) * 1000)
            packets.append((START + len(packets), layer(segment, source=source, destination=destination)))
            ends.add((_end(source, source_port), _end(destination, destination_port)))
        packets.append((START + len(packets), error))
    rows = rows_of_bytes(pcap(packets, link=101, nanoseconds=True), tables=frozenset({"connections"}))["connections"]
    assert {(row.client, row.broker) for row in rows if row.opening == "unreachable"} == ends
    assert {row.opening for row in rows} == {"unreachable"}
    figure("ICMP errors as tshark", len(ends), "packets")
    assert len(ends) > 100


def read(file: Path) -> list[Frame]:
    """All packets of a file as the capture engine reads them."""
    segments = {
        row.number: Segment(*(getattr(row, name) for name in Segment._fields))
        for row in rows_of_files(file, tables=frozenset({"segments"}))["segments"]
    }
    packets = rows_of_files(file, tables=frozenset({"packets"}))["packets"]
    return [Frame(row.number, row.time, row.length, row.captured, segments.get(row.number)) for row in packets]


def shown(tshark: str, file: Path) -> list[Frame]:
    """All packets of a file as tshark shows them."""
    command = [tshark, "-n", "-r", str(file), "-T", "fields", "-E", "occurrence=l", "-E", "separator=/t"]
    # The port of Linux and flannel, which tshark does not know as VXLAN.
    command += ["-d", "udp.port==8472,vxlan"]
    for setting in _SETTINGS:
        command += ["-o", setting]
    for field in _FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    # 2: the file is cut in the middle of a packet; all before it was read.
    assert done.returncode in (0, 2), done.stderr
    return [_frame(dict(zip(_FIELDS, line.split("\t"), strict=True))) for line in done.stdout.splitlines()]


def unreachables(tshark: str, file: Path) -> list[tuple[str, str, int, int] | None]:
    """Of each packet, if it is an ICMP error about TCP: source and destination of the segment, and its ports."""
    names = ["icmp.type", "icmpv6.type", "tcp.srcport", "tcp.dstport", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst"]
    command = [tshark, "-n", "-r", str(file), "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]
    command += (word for name in names for word in ("-e", name))
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    found: list[tuple[str, str, int, int] | None] = []
    for line in done.stdout.splitlines():
        values = dict(zip(names, line.split("\t"), strict=True))
        version = "ip" if values["icmp.type"] else "ipv6"
        sources, destinations = values[f"{version}.src"].split(","), values[f"{version}.dst"].split(",")
        # A redirect is no error.
        if not values["tcp.srcport"] or len(sources) < 2 or values["icmp.type"] == "5":
            found.append(None)
        else:
            found.append((sources[-1], destinations[-1], int(values["tcp.srcport"]), int(values["tcp.dstport"])))
    return found


def _hold_against(found: list[list[Frame]], expected: list[list[Frame]]) -> None:
    wrong = [
        f"packet {theirs.number}: ours {ours}, tshark {theirs}"
        for one, other in zip(found, expected, strict=True)
        for ours, theirs in zip(one, other, strict=True)
        if ours != theirs
    ]
    assert not wrong, "\n".join(wrong[:20])


def _counted(found: list[list[Frame]]) -> tuple[int, int]:
    """How many packets, and how many of them are segments."""
    return sum(map(len, found)), sum(frame.segment is not None for frames in found for frame in frames)


def _frame(values: dict[str, str]) -> Frame:
    seconds, _, fraction = values["frame.time_epoch"].partition(".")
    kept = int(values["frame.cap_len"])
    return Frame(
        number=int(values["frame.number"]),
        time=int(seconds or 0) * 10**9 + int(fraction.ljust(9, "0")[:9]),
        length=max(kept, int(values["frame.len"])),
        captured=kept,
        segment=_segment(values),
    )


def _segment(values: dict[str, str]) -> Segment | None:
    protocols = values["frame.protocols"].split(":")
    # What an ICMP error quotes is no segment; what a fragment or a cut header holds has no flags or window.
    if not values["tcp.window_size_value"] or {"icmp", "icmpv6"} & set(protocols):
        return None
    inner = [name for name in protocols[: len(protocols) - protocols[::-1].index("tcp")] if name in ("ip", "ipv6")][-1]
    return Segment(
        source=_end(values[f"{inner}.src"], int(values["tcp.srcport"])),
        destination=_end(values[f"{inner}.dst"], int(values["tcp.dstport"])),
        sequence=int(values["tcp.seq_raw"]),
        acknowledgement=int(values["tcp.ack_raw"]),
        flags=int(values["tcp.flags"], 16) & 0x1F,
        window=int(values["tcp.window_size_value"]),
        length=int(values["tcp.len"] or 0),
        captured=len(bytes.fromhex(values["tcp.payload"])),
    )


def _end(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
