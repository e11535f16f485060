"""Every header of every packet is what tshark reads: captures by others, and layers that scapy stacks at random.

The layers are TCP below links, VLANs, tunnels, extension headers and snaplens.
"""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from struct import pack
from typing import Any, NamedTuple

import pytest
from scapy.contrib.erspan import ERSPAN_II, ERSPAN_III
from scapy.contrib.geneve import GENEVE
from scapy.contrib.gtp import GTP_U_Header
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, TCP, UDP, IPOption_NOP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting
from scapy.layers.l2 import GRE, LLC, SNAP, CookedLinux, CookedLinuxV2, Dot1AD, Dot1Q, Dot3, Ether
from scapy.layers.ppp import HDLC, PPP, PPPoE
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

from tests.compose.tracing import CORPUS
from tests.figures import Report as Figure
from tests.native.files import START, enhanced, interface, pcap, section
from tests.native.packets import SYN, ipv4, ipv6, tcp
from tests.native.reading import rows_of_bytes, rows_of_files

_LINKS = (0, 1, 1, 1, 1, 9, 50, 101, 108, 113, 228, 229, 239, 258, 276)


def nested(random: Random) -> tuple[int, bytes]:
    """A link type, and a packet of it."""
    link = random.choice(_LINKS)
    version = 4 if link == 228 else 6 if link == 229 else random.choice((4, 4, 6))
    inner = _ip(random, version, random.choice((0, 0, 0, 1, 2)))
    return link, bytes(_linked(random, link, version, inner)) + bytes(random.choice((0, 0, 6)) if link == 1 else 0)


def icmp_error(random: Random) -> tuple[int, bytes]:
    """A link type (raw IP), and an ICMP message that quotes TCP or something else, whole or cut."""
    version = random.choice((4, 6))
    protocol = "proto" if version == 4 else "nh"
    inner = bytes(_with(_header(random, version), protocol, random.choice((6, 6, 6, 17))) / _tcp(random))
    quoted = inner[: random.choice((len(inner), len(inner), 28, 48, 96))]
    kind = random.choice((0, 3, 3, 3, 5, 8, 11, 12) if version == 4 else (1, 1, 2, 3, 4, 128, 135))
    message = bytes([kind, random.randrange(6)]) + bytes(6) + quoted
    outer = _with(_header(random, version), protocol, 1 if version == 4 else 58)
    return 101, bytes(outer / Raw(message))


def _linked(random: Random, link: int, version: int, inner: Packet) -> Packet | bytes:
    ethertype = 0x0800 if version == 4 else 0x86DD
    match link:
        case 0:
            family = 2 if version == 4 else random.choice((24, 28, 30))
            return family.to_bytes(4, random.choice(("little", "big"))) + bytes(inner)
        case 108:
            return (2 if version == 4 else 24).to_bytes(4, "big") + bytes(inner)
        case 9:
            return PPP(proto=0x21 if version == 4 else 0x57) / inner
        case 50:
            return HDLC() / PPP(proto=0x21 if version == 4 else 0x57) / inner
        case 113:
            return CookedLinux(proto=ethertype) / inner
        case 276:
            return CookedLinuxV2(proto=ethertype, ifindex=3) / inner
        case 239:
            payload = pack("<HH", len(inner) + 4, 9) + bytes(inner)
            return bytes([2 if version == 4 else 10, 0, 0, 5]) + pack("<HHI", 8, 1, 0) + payload
        case 258:
            head = pack("<III24s", 108, 1, 1, b"en0") + bytes(72)
            return head + bytes(_ethernet(random, ethertype, inner))
        case 1:
            return _ethernet(random, ethertype, inner)
        case _:
            return inner


def _ethernet(random: Random, ethertype: int, inner: Packet) -> Packet:
    """A frame, with what may stand between Ethernet and IP."""
    ends: dict[str, Any] = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}
    match random.randrange(8):
        case 0:
            return Ether(**ends, type=0x8100) / Dot1Q(vlan=random.randrange(4096), type=ethertype) / inner
        case 1:
            return Ether(**ends, type=0x88A8) / Dot1AD(vlan=9, type=0x8100) / Dot1Q(vlan=7, type=ethertype) / inner
        case 2:
            labels = MPLS(label=20, s=0, ttl=9) / MPLS(label=random.randrange(16, 1 << 20), s=1, ttl=9)
            return Ether(**ends, type=0x8847) / labels / inner
        case 3:
            session = PPPoE(sessionid=random.randrange(1 << 16)) / PPP(proto=0x21 if ethertype == 0x0800 else 0x57)
            return Ether(**ends, type=0x8864) / session / inner
        case 4 if len(inner) < 1490:
            return Dot3(**ends) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(code=ethertype) / inner
        case _:
            return Ether(**ends, type=ethertype) / inner


def _ip(random: Random, version: int, depth: int) -> Packet:
    """IP with TCP in it, or with a tunnel to more of it."""
    head, protocol = _header(random, version), "proto" if version == 4 else "nh"
    if not depth:
        return _with(head, protocol, 6) / _tcp(random)
    other = random.choice((4, 6))
    inner = _ip(random, other, depth - 1)
    ethertype = 0x0800 if other == 4 else 0x86DD
    framed = _ethernet(random, ethertype, inner)
    ports: dict[str, Any] = {"sport": random.randrange(49152, 65536)}
    match random.randrange(9):
        case 0:
            return _with(head, protocol, 4 if other == 4 else 41) / inner
        case 1:
            # Flags of their own, so that every combination comes up.
            gre = GRE(chksum_present=random.randrange(2), key_present=random.randrange(2), proto=ethertype)
            gre.seqnum_present = random.randrange(2)
            gre.key, gre.sequence_number = random.randrange(1 << 32), random.randrange(1 << 32)
            return _with(head, protocol, 47) / gre / inner
        case 2:
            return _with(head, protocol, 47) / GRE(proto=0x6558, key_present=1, key=5) / framed
        case 3:
            gre = GRE(proto=0x88BE, seqnum_present=1, sequence_number=random.randrange(1 << 32))
            return _with(head, protocol, 47) / gre / ERSPAN_II(session_id=3, vlan=5) / framed
        case 4:
            gre = GRE(proto=0x22EB, seqnum_present=1, sequence_number=random.randrange(1 << 32))
            return _with(head, protocol, 47) / gre / ERSPAN_III(session_id=3) / framed
        case 5:
            vxlan = VXLAN(vni=random.randrange(1 << 24), flags="Instance")
            return _with(head, protocol, 17) / UDP(dport=random.choice((4789, 8472)), **ports) / vxlan / framed
        case 6:
            options = bytes(4 * random.randrange(4))
            geneve = GENEVE(vni=random.randrange(1 << 24), proto=0x6558, optionlen=len(options) // 4)
            return _with(head, protocol, 17) / UDP(dport=6081, **ports) / Raw(bytes(geneve) + options + bytes(framed))
        case 7:
            gtp = GTP_U_Header(teid=random.randrange(1 << 32), gtp_type=255)
            return _with(head, protocol, 17) / UDP(dport=2152, sport=2152) / gtp / inner
        case _:
            return _with(head, protocol, 97) / Raw(b"\x30\0" + bytes(framed))


def _header(random: Random, version: int) -> Packet:
    if version == 4:
        options = [IPOption_NOP()] * random.choice((0, 0, 4))
        ends: dict[str, Any] = {"src": f"10.0.{random.randrange(256)}.1", "dst": f"10.1.0.{random.randrange(1, 255)}"}
        return IP(**ends, id=random.randrange(1 << 16), flags=random.choice(("", "DF")), options=options)
    head = IPv6(src=f"fd00::{random.randrange(1, 65536):x}", dst="fd00::2")
    for extension in (IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, IPv6ExtHdrDestOpt):
        if random.randrange(6) == 0:
            head = head / extension()
    return head


def _with(head: Packet, field: str, protocol: int) -> Packet:
    """The same header, saying what follows its last extension."""
    last: Any = head.lastlayer()
    setattr(last, field, protocol)
    return head


def _tcp(random: Random) -> Packet:
    syn = random.randrange(5) == 0
    options: list[tuple[str, Any]] = [("NOP", None), ("Timestamp", (random.randrange(1 << 32), 5))]
    if syn:
        options = [("MSS", 1460), ("SAckOK", b""), ("NOP", None), ("WScale", random.randrange(15))]
    segment = TCP(
        sport=random.randrange(1024, 65536),
        dport=random.choice((9092, 19092, 9094)),
        seq=random.randrange(1 << 32),
        ack=random.randrange(1 << 32),
        flags="S" if syn else random.choice(("A", "PA", "FA", "R", "RA")),
        window=random.randrange(1 << 16),
        options=options if random.randrange(3) else [],
    )
    # Bytes that no dissector above TCP takes for its own; tshark takes those of a reset for its reason.
    length = 0 if "R" in segment.flags else random.choice((0, 1, 5, 100, 1400))
    return segment / Raw(bytes([0xF5]) * length)


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
