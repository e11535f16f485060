"""Packets in layers that scapy stacks at random: TCP below links, VLANs, tunnels, extension headers and snaplens."""

from random import Random
from struct import pack
from typing import Any

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
