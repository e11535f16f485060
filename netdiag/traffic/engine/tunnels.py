"""Packets inside of packets: MPLS, PPP, PPPoE, GRE, ERSPAN, VXLAN, Geneve, GTP-U, IP in IP.

Only what has the same number in both directions goes into the context; labels of MPLS, tunnels of GTP and sessions of
ERSPAN tell a direction or who looked, not a network.
"""

from struct import Struct

from netdiag.traffic.engine.internet import IPV4, IPV6, datagram
from netdiag.traffic.engine.walk import (
    ETHERTYPE,
    GENEVE,
    GRE,
    LINK,
    PORT,
    PPP,
    PPPOE,
    PROTOCOL,
    VXLAN,
    Decoded,
    Layer,
    Walk,
)

TRANSPARENT_ETHERNET = 0x6558
_HALVES = Struct(">HH").unpack_from
_WORD = Struct(">I").unpack_from
_ETHERNET = LINK + 1
_MOST_LABELS = 16
_CHECKSUM, _ROUTING, _KEY, _SEQUENCE, _ACKNOWLEDGEMENT, _VERSION = 0x8000, 0x4000, 0x2000, 0x1000, 0x0080, 0x0007
_ERSPAN, _ERSPAN_3 = 0x88BE, 0x22EB
_MPLS, _PPP_IN_GRE = 0x8847, 0x880B
# What VXLAN-GPE says that it holds.
_GPE = {1: ETHERTYPE + IPV4, 2: ETHERTYPE + IPV6, 3: _ETHERNET, 5: ETHERTYPE + _MPLS}
# GTP-U: version 1, a packet of a user; which optional fields there are.
_GTP, _GTP_MASK, _GTP_DATA, _GTP_OPTIONAL, _GTP_EXTENDED = 0x30, 0xF0, 0xFF, 0x07, 0x04


def _mpls(walk: Walk) -> Decoded | None:
    """RFC 3032; what follows the last label says nobody, so its first bits must (RFC 4928)."""
    for _ in range(_MOST_LABELS):
        if not walk.has(4):
            return walk.short("MPLS label")
        walk.position += 4
        if walk.data[walk.position - 2] & 1:
            break
    else:
        return walk.undecoded("limit", f"more than {_MOST_LABELS} MPLS labels")
    if not walk.has(1):
        return walk.short("packet behind MPLS labels")
    nibble = walk.data[walk.position] >> 4
    if nibble == 0:
        # The control word of a pseudowire (RFC 4385).
        walk.position += 4
        walk.next = _ETHERNET
    elif nibble in (4, 6):
        walk.next = ETHERTYPE + (IPV4 if nibble == 4 else IPV6)
    else:
        return walk.undecoded("not-tcp", "MPLS")
    return None


def _pppoe(walk: Walk) -> Decoded | None:
    """RFC 2516, a session."""
    if not walk.has(6):
        return walk.short("PPPoE header")
    kind, session = _HALVES(walk.data, walk.position)
    if kind != 0x1100:
        return walk.undecoded("not-tcp", "PPPoE discovery")
    length = walk.data[walk.position + 4] << 8 | walk.data[walk.position + 5]
    walk.position += 6
    walk.end = min(walk.end, walk.position + length)
    walk.pass_through(PPPOE, session)
    walk.next = PPP
    return None


def _ppp(walk: Walk) -> Decoded | None:
    """RFC 1661; address and control, and the first byte of the protocol, may be left out. Or Cisco's HDLC."""
    if not walk.has(4):
        return walk.short("PPP header")
    first, second = _HALVES(walk.data, walk.position)
    if first in (0x0F00, 0x8F00):
        walk.position += 4
        walk.next = ETHERTYPE + second
        return None
    if first == 0xFF03:
        walk.position += 2
        first = second
    if first >> 8 & 1:
        walk.position += 1
        walk.next = PPP + (first >> 8)
    else:
        walk.position += 2
        walk.next = PPP + first
    return None


def _gre(walk: Walk) -> Decoded | None:
    """RFC 2784 with 2890; version 1 is that of PPTP (RFC 2637)."""
    if not walk.has(4):
        return walk.short("GRE header")
    flags, protocol = _HALVES(walk.data, walk.position)
    version = flags & _VERSION
    if version > 1 or flags & _ROUTING:
        return walk.undecoded("not-tcp", "GRE with routing" if flags & _ROUTING else f"GRE of version {version}")
    key_at = 8 if flags & _CHECKSUM else 4
    header = key_at + (4 if flags & _KEY else 0) + (4 if flags & _SEQUENCE else 0)
    header += 4 if version and flags & _ACKNOWLEDGEMENT else 0
    if not walk.has(header):
        return walk.short("GRE header")
    key = _WORD(walk.data, walk.position + key_at)[0] if flags & _KEY else 0
    walk.position += header
    if protocol in (_ERSPAN, _ERSPAN_3):
        return _erspan(walk, protocol, has_sequence=bool(flags & _SEQUENCE))
    if key and not version:
        # The last byte of NVGRE tells flows apart (RFC 7637).
        walk.pass_through(GRE, key >> 8 if protocol == TRANSPARENT_ETHERNET and not flags & _SEQUENCE else key)
    walk.next = PPP if protocol == _PPP_IN_GRE else ETHERTYPE + protocol
    return None


def _erspan(walk: Walk, protocol: int, *, has_sequence: bool) -> Decoded | None:
    """draft-foschiano-erspan: type I has no header of its own, and GRE without sequence numbers tells it."""
    walk.next = _ETHERNET
    if protocol == _ERSPAN:
        header = 8 if has_sequence else 0
    elif walk.has(12):
        flags = walk.data[walk.position + 11]
        header = 20 if flags & 1 else 12
        kind = walk.data[walk.position + 10] >> 2 & 0x1F
        if kind == 2:
            walk.next = LINK + 101
        elif kind:
            return walk.undecoded("not-tcp", f"ERSPAN of frame type {kind}")
    else:
        header = 12
    if not walk.has(header):
        return walk.short("ERSPAN header")
    walk.position += header
    return None


def _vxlan(walk: Walk) -> Decoded | None:
    """RFC 7348, with the bits of VXLAN-GBP and VXLAN-GPE; anything else at its port is just UDP."""
    if not walk.has(16):
        return datagram(walk)
    flags, number = walk.data[walk.position + 8], _WORD(walk.data, walk.position + 12)[0] >> 8
    inner = _GPE.get(walk.data[walk.position + 11]) if flags & 0x04 else _ETHERNET
    if flags & 0x7B != 0x08 or inner is None:
        return datagram(walk)
    walk.pass_through(VXLAN, number)
    walk.position += 16
    walk.next = inner
    return None


def _geneve(walk: Walk) -> Decoded | None:
    """RFC 8926."""
    if not walk.has(16) or walk.data[walk.position + 8] >> 6:
        return datagram(walk)
    options, protocol = _HALVES(walk.data, walk.position + 8)
    header = 16 + 4 * (options >> 8 & 0x3F)
    if not walk.has(header):
        return walk.short("Geneve header")
    walk.pass_through(GENEVE, _WORD(walk.data, walk.position + 12)[0] >> 8)
    walk.position += header
    walk.next = ETHERTYPE + protocol
    return None


def _gtp(walk: Walk) -> Decoded | None:
    """3GPP TS 29.281."""
    if (
        not walk.has(16)
        or walk.data[walk.position + 8] & _GTP_MASK != _GTP
        or walk.data[walk.position + 9] != _GTP_DATA
    ):
        return datagram(walk)
    flags = walk.data[walk.position + 8]
    walk.position += 16
    if flags & _GTP_OPTIONAL:
        if not walk.has(4):
            return walk.short("GTP header")
        walk.position += 4
        extension = walk.data[walk.position - 1] if flags & _GTP_EXTENDED else 0
        for _ in range(_MOST_LABELS):
            if not extension:
                break
            units = walk.data[walk.position] if walk.has(1) else 0
            if not units or not walk.has(4 * units):
                return walk.short("GTP extension header")
            walk.position += 4 * units
            extension = walk.data[walk.position - 1]
    walk.next = LINK + 101
    return None


def _plain_ethernet(walk: Walk) -> None:
    walk.next = _ETHERNET


def _ipv4_within(walk: Walk) -> None:
    walk.next = ETHERTYPE + IPV4


def _ipv6_within(walk: Walk) -> None:
    walk.next = ETHERTYPE + IPV6


def _mpls_in_udp(walk: Walk) -> Decoded | None:
    """RFC 7510."""
    walk.position += 8
    return _mpls(walk)


def _ether_ip(walk: Walk) -> Decoded | None:
    """RFC 3378."""
    if not walk.has(2):
        return walk.short("EtherIP header")
    walk.position += 2
    walk.next = _ETHERNET
    return None


def _backbone(walk: Walk) -> Decoded | None:
    """IEEE 802.1ah: a whole frame behind a service number."""
    if not walk.has(4):
        return walk.short("802.1ah tag")
    walk.position += 4
    walk.next = _ETHERNET
    return None


LAYERS: dict[int, Layer] = {
    LINK + 9: _ppp,
    LINK + 50: _ppp,
    LINK + 104: _ppp,
    LINK + 51: _pppoe,
    ETHERTYPE + TRANSPARENT_ETHERNET: _plain_ethernet,
    ETHERTYPE + _MPLS: _mpls,
    ETHERTYPE + 0x8848: _mpls,
    ETHERTYPE + 0x8864: _pppoe,
    ETHERTYPE + 0x88E7: _backbone,
    PPP: _ppp,
    PPP + 0x21: _ipv4_within,
    PPP + 0x57: _ipv6_within,
    PPP + 0x281: _mpls,
    PROTOCOL + 4: _ipv4_within,
    PROTOCOL + 41: _ipv6_within,
    PROTOCOL + 47: _gre,
    PROTOCOL + 97: _ether_ip,
    PROTOCOL + 137: _mpls,
    # 8472 is what Linux, and so flannel, takes where nobody says a port.
    PORT + 4789: _vxlan,
    PORT + 4790: _vxlan,
    PORT + 8472: _vxlan,
    PORT + 6081: _geneve,
    PORT + 2152: _gtp,
    PORT + 6635: _mpls_in_udp,
}
