"""IPv4, IPv6, TCP, UDP, and ICMP as far as it tells of TCP."""

from struct import Struct

from netdiag.traffic.engine.packet import SYN, Datagram, Segment, Unreachable
from netdiag.traffic.engine.walk import ETHERTYPE, PORT, PROTOCOL, Decoded, Layer, Walk

IPV4, IPV6 = 0x0800, 0x86DD
TCP = 6
# Of UDP: where a tunnel may be, to be told by its header.
TUNNEL_PORTS = frozenset((2152, 4789, 4790, 6081, 6635, 8472))
_IPV4 = Struct(">BxHHHxB2x4s4s").unpack_from
_IPV6 = Struct(">IHBx16s16s").unpack_from
_TCP = Struct(">HHIIBBH").unpack_from
_UDP = Struct(">HHH").unpack_from
_PORTS = Struct(">HH").unpack_from
_WORD = Struct(">I").unpack_from
_NO_FRAGMENT = 0x3FFF
_HOP_BY_HOP, _FRAGMENT, _AUTHENTICATION = 0, 44, 51
_EXTENSIONS = frozenset((_HOP_BY_HOP, 43, 60, 135, 139, 140))
_MOST_EXTENSIONS = 16
_JUMBO = 0xC2
_WINDOW_SCALE = 3
_ERRORS = {1: frozenset((3, 4, 11, 12)), 58: frozenset((1, 2, 3, 4))}


def ipv4(walk: Walk) -> Decoded | None:
    """RFC 791. A total length of 0 is what TSO leaves there; padding of the link lies behind the total length."""
    if not walk.has(20):
        return walk.short("IPv4 header")
    data, begin = walk.data, walk.position
    first, total, identification, fragment, protocol, walk.source, walk.destination = _IPV4(data, begin)
    header = (first & 15) * 4
    if first >> 4 != 4 or header < 20 or 0 < total < header:
        return walk.undecoded("damage", "IPv4 header")
    if total and (begin + total <= walk.end or _is_sound(data, begin, header)):
        walk.end = begin + total
    if fragment & _NO_FRAGMENT:
        return walk.undecoded("fragment", "IPv4 fragment")
    walk.identification = identification
    walk.position = begin + header
    walk.next = PROTOCOL + protocol
    return None


def _is_sound(data: memoryview, begin: int, header: int) -> bool:
    """Whether the checksum of an IPv4 header is right: then a frame shorter than it says was cut, and hides it."""
    if begin + header > len(data):
        return False
    total: int = sum(Struct(f">{header // 2}H").unpack_from(data, begin))
    return total % 0xFFFF == 0 and total > 0


def ipv6(walk: Walk) -> Decoded | None:
    """RFC 8200, with jumbograms (RFC 2675); a payload length of 0 without that option is what TSO leaves there."""
    if not walk.has(40):
        return walk.short("IPv6 header")
    first, length, protocol, walk.source, walk.destination = _IPV6(walk.data, walk.position)
    if first >> 28 != 6:
        return walk.undecoded("damage", "IPv6 header")
    walk.identification = -1
    walk.position += 40
    if length:
        walk.end = min(walk.end, walk.position + length)
    for _ in range(_MOST_EXTENSIONS):
        if protocol == _FRAGMENT:
            if not walk.has(8):
                return walk.short("IPv6 extension header")
            protocol, place = walk.data[walk.position], _PORTS(walk.data, walk.position)[1]
            if place & 0xFFF9:
                return walk.undecoded("fragment", "IPv6 fragment")
            walk.position += 8
        elif protocol in _EXTENSIONS:
            if not walk.has(8):
                return walk.short("IPv6 extension header")
            if protocol == _HOP_BY_HOP and not length:
                _take_jumbo(walk)
            protocol, units = walk.data[walk.position], walk.data[walk.position + 1]
            walk.position += 8 + 8 * units
        else:
            walk.next = PROTOCOL + protocol
            return None
    return walk.undecoded("limit", "more than 16 IPv6 extension headers")


def _take_jumbo(walk: Walk) -> None:
    """The payload length of a jumbogram, from its option."""
    data, position = walk.data, walk.position + 2
    end = min(len(data), walk.position + 8 + 8 * data[walk.position + 1])
    while position + 6 <= end:
        option = data[position]
        if option == _JUMBO and data[position + 1] == 4:
            walk.end = min(walk.end, walk.position + _WORD(data, position + 2)[0])
            return
        position += 2 + data[position + 1] if option else 1


def authentication(walk: Walk) -> Decoded | None:
    """RFC 4302: signed and not encrypted."""
    if not walk.has(12):
        return walk.short("authentication header")
    walk.next = PROTOCOL + walk.data[walk.position]
    walk.position += 4 * (walk.data[walk.position + 1] + 2)
    return None


def tcp(walk: Walk) -> Decoded:
    """RFC 9293; of the options only the scale of the window is of use, behind the window nothing else."""
    if not walk.has(16):
        return walk.short("TCP header")
    data, begin, packet = walk.data, walk.position, walk.packet
    source, destination, sequence, acknowledgement, offset, flags, window = _TCP(data, begin)
    payload = begin + (offset >> 4) * 4
    if payload < begin + 20 or payload > walk.end:
        return walk.undecoded("damage", "TCP header")
    return Segment(
        packet.time,
        walk.source,
        walk.destination,
        source,
        destination,
        sequence,
        acknowledgement,
        flags,
        window,
        data[payload : walk.end],
        walk.end - payload,
        walk.identification,
        _window_scale(data, begin + 20, payload) if flags & SYN else -1,
        walk.context,
        walk.interface,
        packet.number,
        packet.file,
    )


def _window_scale(data: memoryview, position: int, end: int) -> int:
    end = min(end, len(data))
    while position + 1 < end:
        kind = data[position]
        if kind == 0:
            break
        if kind == 1:
            position += 1
            continue
        if kind == _WINDOW_SCALE and data[position + 1] == 3 and position + 2 < end:
            # RFC 7323: more than 14 counts as 14.
            return min(data[position + 2], 14)
        position += max(2, data[position + 1])
    return -1


def udp(walk: Walk) -> Decoded | None:
    """RFC 768."""
    if not walk.has(8):
        return walk.short("UDP header")
    _, port, length = _UDP(walk.data, walk.position)
    if length >= 8:
        walk.end = min(walk.end, walk.position + length)
    if port in TUNNEL_PORTS and walk.has(9):
        walk.next = PORT + port
        return None
    return datagram(walk)


def datagram(walk: Walk) -> Datagram:
    """What is no tunnel."""
    source, destination, _ = _UDP(walk.data, walk.position)
    packet = walk.packet
    payload = walk.data[walk.position + 8 : walk.end]
    return Datagram(
        packet.time,
        walk.source,
        walk.destination,
        source,
        destination,
        payload,
        walk.interface,
        packet.number,
        packet.file,
    )


def icmp(walk: Walk) -> Decoded:
    """RFC 792: errors quote the beginning of the packet that they are about."""
    return _error(walk, 1, "ICMP")


def icmpv6(walk: Walk) -> Decoded:
    """RFC 4443, as ICMP."""
    return _error(walk, 58, "ICMPv6")


def _error(walk: Walk, protocol: int, name: str) -> Decoded:
    if not walk.has(8):
        return walk.short(f"{name} header")
    kind, code = walk.data[walk.position], walk.data[walk.position + 1]
    if kind not in _ERRORS[protocol]:
        return walk.undecoded("not-tcp", name)
    reporter = walk.source
    walk.position += 8
    quoted = _quoted(walk)
    if quoted is None:
        return walk.undecoded("not-tcp", f"{name} error")
    source, destination = quoted
    packet = walk.packet
    return Unreachable(
        packet.time,
        reporter,
        walk.source,
        walk.destination,
        source,
        destination,
        kind,
        code,
        packet.number,
        packet.file,
    )


def _quoted(walk: Walk) -> tuple[int, int] | None:
    """The ports of a quoted TCP segment; its addresses become those of the walk."""
    if not walk.has(1):
        return None
    # A quoted packet is cut and so shorter than its header says; only its first bytes are of use.
    end = walk.end
    layer = ipv4 if walk.data[walk.position] >> 4 == 4 else ipv6
    if layer(walk) is not None or walk.next != PROTOCOL + TCP:
        return None
    walk.end = end
    if not walk.has(4):
        return None
    ports: tuple[int, int] = _PORTS(walk.data, walk.position)
    return ports


LAYERS: dict[int, Layer] = {
    ETHERTYPE + IPV4: ipv4,
    ETHERTYPE + IPV6: ipv6,
    PROTOCOL + TCP: tcp,
    PROTOCOL + 17: udp,
    PROTOCOL + 1: icmp,
    PROTOCOL + 58: icmpv6,
    PROTOCOL + _AUTHENTICATION: authentication,
}
