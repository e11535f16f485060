"""From a packet to what it carries: the link layers, and the way from there on.

Nearly all packets are TCP over IPv4 over Ethernet without options: these are read in one go. Everything else walks
from layer to layer.
"""

from struct import Struct

from netdiag.traffic.engine import internet, tunnels
from netdiag.traffic.engine.packet import SYN, Packet, Segment
from netdiag.traffic.engine.walk import ETHERTYPE, LINK, PPP, PROTOCOL, VLAN, Decoded, Layer, Walk

_MOST_LAYERS = 40
# EtherType, IPv4 header without options, TCP header without options.
_PLAIN = Struct(">HBxHHHxB2x4s4sHHIIBBH").unpack_from
_PLAIN_LENGTH = 38
# Where the EtherType stands that lies just before IP, by link type: Ethernet, Linux cooked v1.
_PLAIN_BEGINS = {1: 12, 113: 14}
_HALF = Struct(">H").unpack_from
_WORD = Struct(">I").unpack_from
_PAIR = Struct("<HH").unpack_from
_NFULA_PAYLOAD, _MOST_ATTRIBUTES, _MOST_ATTRIBUTE = 9, 64, 1024
_PKTAP, _LARGEST_PKTAP = 258, 1024
_LEAST_ETHERTYPE = 0x600
_SNAP = b"\xaa\xaa\x03\x00\x00\x00"
# Address families of IPv6 in Linux, Windows, the BSDs and macOS; of IPv4 everywhere the same.
_FAMILIES = {
    2: internet.IPV4,
    10: internet.IPV6,
    23: internet.IPV6,
    24: internet.IPV6,
    28: internet.IPV6,
    30: internet.IPV6,
}
_KNOWN_ETHERTYPES = {0x0806: "ARP", 0x88CC: "LLDP"}
_KNOWN_PROTOCOLS = {2: "IGMP", 50: "ESP", 89: "OSPF", 103: "PIM", 112: "VRRP", 132: "SCTP"}


def decode_packet(packet: Packet) -> Decoded:
    """What the packet carries; never an exception, whatever its bytes are."""
    time, link, interface, data, length, number, file = packet
    begin = _PLAIN_BEGINS.get(link)
    if begin is not None and len(data) >= begin + _PLAIN_LENGTH:
        (
            ethertype,
            first,
            total,
            identification,
            fragment,
            protocol,
            source,
            destination,
            source_port,
            destination_port,
            sequence,
            acknowledgement,
            offset,
            flags,
            window,
        ) = _PLAIN(data, begin)
        if ethertype == 0x0800 and first == 0x45 and protocol == 6 and not fragment & 0x3FFF and not flags & SYN:
            begin += 2
            header = 20 + (offset >> 4) * 4
            end = begin + total
            if 40 <= header <= total and end <= length:
                return Segment(
                    time,
                    source,
                    destination,
                    source_port,
                    destination_port,
                    sequence,
                    acknowledgement,
                    flags,
                    window,
                    data[begin + header : end],
                    total - header,
                    identification,
                    -1,
                    b"",
                    interface,
                    number,
                    file,
                )
    return _walk(Walk(packet))


def _walk(walk: Walk) -> Decoded:
    for _ in range(_MOST_LAYERS):
        layer = _LAYERS.get(walk.next)
        if layer is None:
            return _unknown(walk)
        result = layer(walk)
        if result is not None:
            return result
    return walk.undecoded("limit", f"more than {_MOST_LAYERS} headers")


def _unknown(walk: Walk) -> Decoded:
    number = walk.next & 0xFFFF
    if walk.next < ETHERTYPE:
        return walk.undecoded("unsupported-link", f"link type {number}")
    if walk.next >= PPP:
        return walk.undecoded("not-tcp", f"PPP protocol 0x{number:04x}")
    if walk.next < PROTOCOL:
        return walk.undecoded("not-tcp", _KNOWN_ETHERTYPES.get(number, f"EtherType 0x{number:04x}"))
    return walk.undecoded("not-tcp", _KNOWN_PROTOCOLS.get(number, f"IP protocol {number}"))


def _ethernet(walk: Walk) -> Decoded | None:
    if not walk.has(14):
        return walk.short("Ethernet header")
    return _typed(walk, 12)


def _typed(walk: Walk, offset: int) -> Decoded | None:
    """An EtherType, or the length of an IEEE 802.3 frame with LLC."""
    ethertype = _HALF(walk.data, walk.position + offset)[0]
    walk.position += offset + 2
    if ethertype < _LEAST_ETHERTYPE:
        walk.end = min(walk.end, walk.position + ethertype)
        if not walk.has(8) or walk.data[walk.position : walk.position + 6] != _SNAP:
            return walk.undecoded("not-tcp", "LLC")
        ethertype = _HALF(walk.data, walk.position + 6)[0]
        walk.position += 8
    walk.next = ETHERTYPE + ethertype
    return None


def _vlan(walk: Walk) -> Decoded | None:
    """IEEE 802.1Q and 802.1ad; number 0 is no VLAN, only a priority."""
    if not walk.has(4):
        return walk.short("VLAN tag")
    number = _HALF(walk.data, walk.position)[0] & 0xFFF
    if number:
        walk.pass_through(VLAN, number)
    return _typed(walk, 2)


def _cooked(walk: Walk) -> Decoded | None:
    """LINKTYPE_LINUX_SLL."""
    if not walk.has(16):
        return walk.short("Linux cooked header")
    return _cooked_protocol(walk, _HALF(walk.data, walk.position + 14)[0], 16)


def _cooked_v2(walk: Walk) -> Decoded | None:
    """LINKTYPE_LINUX_SLL2, which says on which interface."""
    if not walk.has(20):
        return walk.short("Linux cooked header")
    protocol, _, index = Struct(">HHI").unpack_from(walk.data, walk.position)
    walk.interface = walk.interface or str(index)
    return _cooked_protocol(walk, protocol, 20)


def _cooked_protocol(walk: Walk, protocol: int, header: int) -> Decoded | None:
    walk.position += header
    if protocol < _LEAST_ETHERTYPE:
        return walk.undecoded("not-tcp", "LLC")
    walk.next = ETHERTYPE + protocol
    return None


def _family(walk: Walk) -> Decoded | None:
    """LINKTYPE_NULL has the byte order of who captured it, LINKTYPE_LOOP that of the network."""
    if not walk.has(4):
        return walk.short("loopback header")
    number = _WORD(walk.data, walk.position)[0]
    ethertype = _FAMILIES.get(number) or _FAMILIES.get(int.from_bytes(number.to_bytes(4, "big"), "little"))
    if ethertype is None:
        return walk.undecoded("not-tcp", "loopback of another address family")
    walk.position += 4
    walk.next = ETHERTYPE + ethertype
    return None


def _nflog(walk: Walk) -> Decoded | None:
    """LINKTYPE_NFLOG: what a rule of netfilter logged, an IP packet among other attributes of either byte order."""
    if not walk.has(8):
        return walk.short("NFLOG header")
    family, position = walk.data[0], 4
    unpack = Struct("<HH" if _PAIR(walk.data, position)[0] <= _MOST_ATTRIBUTE else ">HH").unpack_from
    for _ in range(_MOST_ATTRIBUTES):
        walk.position = position
        if not walk.has(4):
            break
        length, kind = unpack(walk.data, position)
        if length < 4:
            break
        if kind & 0x7FFF == _NFULA_PAYLOAD:
            walk.end = min(walk.end, position + length)
            walk.position += 4
            ethertype = _FAMILIES.get(family)
            walk.next = LINK + 101 if ethertype is None else ETHERTYPE + ethertype
            return None
        position += length + -length % 4
    return walk.short("NFLOG attributes") if len(walk.data) < walk.end else walk.undecoded("not-tcp", "NFLOG")


def _pktap(walk: Walk) -> Decoded | None:
    """LINKTYPE_PKTAP of macOS: the name of an interface, and a packet of its link type."""
    if not walk.has(36):
        return walk.short("PKTAP header")
    header, _, link = Struct("<III").unpack_from(walk.data, walk.position)
    if not 36 <= header <= _LARGEST_PKTAP or not 0 <= link < ETHERTYPE or link == _PKTAP:
        return walk.undecoded("damage", "PKTAP header")
    name = bytes(walk.data[walk.position + 12 : walk.position + 36]).partition(b"\0")[0]
    walk.interface = name.decode("ascii", errors="replace") or walk.interface
    walk.position += header
    walk.next = LINK + link
    return None


def _raw(walk: Walk) -> Decoded | None:
    if not walk.has(1):
        return walk.short("IP header")
    version = walk.data[walk.position] >> 4
    if version not in (4, 6):
        return walk.undecoded("not-tcp", f"raw IP of version {version}")
    walk.next = ETHERTYPE + (internet.IPV4 if version == 4 else internet.IPV6)
    return None


_LAYERS: dict[int, Layer] = {
    **internet.LAYERS,
    **tunnels.LAYERS,
    LINK + 0: _family,
    LINK + 108: _family,
    LINK + 1: _ethernet,
    LINK + 113: _cooked,
    LINK + 276: _cooked_v2,
    # DLT_RAW is 12, or 14 on OpenBSD, in files that did not translate it.
    LINK + 12: _raw,
    LINK + 14: _raw,
    LINK + 101: _raw,
    LINK + 239: _nflog,
    LINK + _PKTAP: _pktap,
    LINK + 228: _raw,
    LINK + 229: _raw,
    ETHERTYPE + 0x8100: _vlan,
    ETHERTYPE + 0x88A8: _vlan,
    ETHERTYPE + 0x9100: _vlan,
    ETHERTYPE + 0x9200: _vlan,
}
