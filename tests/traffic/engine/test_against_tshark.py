"""Every header of every packet is what tshark reads: captures by others, and nested layers made by scapy."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from ipaddress import ip_address
from pathlib import Path
from random import Random

import pytest

from netdiag.io.captures import Captures
from netdiag.traffic.engine.links import decode_packet
from netdiag.traffic.engine.packet import Segment, Unreachable
from tests.compose.tracing import CORPUS
from tests.figures import Report as Figure
from tests.traffic.engine.capture_files import START, enhanced, interface, pcap, section
from tests.traffic.engine.nested import icmp_error, nested
from tests.traffic.tshark import Frame, Tcp, frames, unreachables
from tests.traffic.tshark import tshark as tshark

CAPTURES = sorted((CORPUS.parent / "pcaps").glob("**/*.pcap*"))


@pytest.mark.slow
@pytest.mark.skipif(not CAPTURES, reason="shared corpus absent")
def test_captures_by_others_are_what_tshark_reads(tshark: str, figure: Figure) -> None:
    seen, wrong = Counter[str](), []
    with ThreadPoolExecutor(4) as pool:
        shown = list(pool.map(lambda file: frames(tshark, file), CAPTURES))
    for file, expected in zip(CAPTURES, shown, strict=True):
        wrong += [f"{file.name} {line}" for line in _differences(file, expected, seen)]
    figure("packets of captures by others as tshark", f"{seen['equal']} of {seen['packets']}", "packets")
    assert not wrong, "\n".join(wrong)
    assert seen["segments"] > 100


@pytest.mark.slow
def test_icmp_errors_are_about_what_tshark_reads(tshark: str, tmp_path: Path, figure: Figure) -> None:
    random = Random(1)
    file = tmp_path / "icmp.pcap"
    file.write_bytes(pcap([(START, icmp_error(random)[1]) for _ in range(400)], link=101))
    wrong, told = [], 0
    expected = unreachables(tshark, file)
    for packet, theirs in zip(Captures([str(file)]).packets(), expected, strict=True):
        decoded = decode_packet(packet)
        ours = None
        if isinstance(decoded, Unreachable):
            ends = (str(ip_address(each)) for each in (decoded.reporter, decoded.source, decoded.destination))
            ours = (*ends, decoded.source_port, decoded.destination_port, decoded.type, decoded.code)
        told += ours is not None
        if ours != theirs:
            wrong.append(f"packet {packet.number}: {ours or decoded}, tshark {theirs}")
    figure("ICMP errors as tshark", f"{len(expected) - len(wrong)} of {len(expected)}", "packets")
    assert not wrong, "\n".join(wrong[:20])
    assert told > 100


def _differences(file: Path, expected: list[Frame], seen: Counter[str]) -> list[str]:
    """What is not as tshark says, a line each."""
    captures = Captures([str(file)])
    packets = list(captures.packets())
    account = captures.files[0].account
    known = account.packet_bytes + account.header_bytes + account.lost_bytes
    assert known == file.stat().st_size == captures.files[0].read_bytes
    wrong = [] if len(packets) == len(expected) else [f"{len(packets)} packets, tshark {len(expected)}"]
    for packet, frame in zip(packets, expected, strict=False):
        decoded = decode_packet(packet)
        found = Frame(
            number=packet.number,
            time=packet.time,
            length=frame.length if len(packet.data) > frame.length else packet.length,
            kept=len(packet.data),
            protocols=frame.protocols,
            tcp=_tcp(decoded) if isinstance(decoded, Segment) else None,
        )
        seen["packets"] += 1
        seen["segments"] += frame.tcp is not None
        if found == frame:
            seen["equal"] += 1
        else:
            what = _unequal(found.tcp, frame.tcp) if found.tcp and frame.tcp else (decoded, frame.tcp)
            wrong.append(f"packet {frame.number} ({':'.join(frame.protocols)}): {what}")
    return wrong


def _unequal(ours: Tcp, theirs: Tcp) -> dict[str, tuple[object, object]]:
    pairs = ((field.name, (getattr(ours, field.name), getattr(theirs, field.name))) for field in fields(Tcp))
    return {name: pair for name, pair in pairs if pair[0] != pair[1]}


def _tcp(segment: Segment) -> Tcp:
    return Tcp(
        source=segment.source,
        destination=segment.destination,
        source_port=segment.source_port,
        destination_port=segment.destination_port,
        sequence=segment.sequence,
        acknowledgement=segment.acknowledgement,
        flags=segment.flags,
        window=segment.window,
        length=segment.length,
        identification=segment.identification,
        window_scale=segment.window_scale,
        payload=bytes(segment.payload),
    )


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
    seen = Counter[str]()
    wrong = _differences(file, frames(tshark, file), seen)
    figure(f"packets in random layers at snaplen {snaplen} as tshark", f"{seen['equal']} of {len(made)}", "packets")
    assert not wrong, "\n".join(wrong[:20])
    assert seen["segments"] > (580 if snaplen > 1500 else 50)
