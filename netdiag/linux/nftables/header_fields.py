"""Fields of protocol headers by the names of nft: where they begin and how long they are, in bits.

Sources: RFC 791, RFC 8200, RFC 9293, RFC 768, RFC 792, RFC 4443, RFC 826, IEEE 802.1Q, nft(8).
"""

from collections.abc import Mapping
from typing import NamedTuple

from netdiag.linux.nftables.datatypes import BY_NAME, INTEGER, DataType


class Field(NamedTuple):
    """One field; `kind` is how its values are written."""

    name: str
    start: int
    length: int
    kind: DataType


def _fields(**described: tuple[int, int, str]) -> tuple[Field, ...]:
    made = []
    for name, (start, length, kind) in described.items():
        words = name.replace("__", " ").replace("_", "-")
        made.append(Field(words, start, length, BY_NAME.get(kind, INTEGER)))
    return tuple(made)


_PORTS = {"sport": (0, 16, "inet_service"), "dport": (16, 16, "inet_service")}

HEADERS: Mapping[str, tuple[Field, ...]] = {
    "ether": _fields(daddr=(0, 48, "ether_addr"), saddr=(48, 48, "ether_addr"), type=(96, 16, "ether_type")),
    "vlan": _fields(pcp=(112, 3, ""), dei=(115, 1, ""), id=(116, 12, ""), type=(128, 16, "ether_type")),
    "arp": _fields(
        htype=(0, 16, ""),
        ptype=(16, 16, "ether_type"),
        hlen=(32, 8, ""),
        plen=(40, 8, ""),
        operation=(48, 16, "arp_op"),
        saddr__ether=(64, 48, "ether_addr"),
        saddr__ip=(112, 32, "ipv4_addr"),
        daddr__ether=(144, 48, "ether_addr"),
        daddr__ip=(192, 32, "ipv4_addr"),
    ),
    "ip": _fields(
        version=(0, 4, ""),
        hdrlength=(4, 4, ""),
        dscp=(8, 6, "dscp"),
        ecn=(14, 2, "ecn"),
        length=(16, 16, ""),
        id=(32, 16, ""),
        frag_off=(48, 16, ""),
        ttl=(64, 8, ""),
        protocol=(72, 8, "inet_proto"),
        checksum=(80, 16, ""),
        saddr=(96, 32, "ipv4_addr"),
        daddr=(128, 32, "ipv4_addr"),
    ),
    "ip6": _fields(
        version=(0, 4, ""),
        dscp=(4, 6, "dscp"),
        ecn=(10, 2, "ecn"),
        flowlabel=(12, 20, ""),
        length=(32, 16, ""),
        nexthdr=(48, 8, "inet_proto"),
        hoplimit=(56, 8, ""),
        saddr=(64, 128, "ipv6_addr"),
        daddr=(192, 128, "ipv6_addr"),
    ),
    "tcp": _fields(
        **_PORTS,
        sequence=(32, 32, ""),
        ackseq=(64, 32, ""),
        doff=(96, 4, ""),
        flags=(104, 8, "tcp_flag"),
        window=(112, 16, ""),
        checksum=(128, 16, ""),
        urgptr=(144, 16, ""),
    ),
    "udp": _fields(**_PORTS, length=(32, 16, ""), checksum=(48, 16, "")),
    "udplite": _fields(**_PORTS, csumcov=(32, 16, ""), checksum=(48, 16, "")),
    "sctp": _fields(**_PORTS, vtag=(32, 32, ""), checksum=(64, 32, "")),
    "dccp": _fields(**_PORTS),
    "th": _fields(**_PORTS),
    "icmp": _fields(
        type=(0, 8, "icmp_type"),
        code=(8, 8, "icmp_code"),
        checksum=(16, 16, ""),
        id=(32, 16, ""),
        sequence=(48, 16, ""),
        gateway=(32, 32, ""),
    ),
    "icmpv6": _fields(
        type=(0, 8, "icmpv6_type"),
        code=(8, 8, "icmpv6_code"),
        checksum=(16, 16, ""),
        id=(32, 16, ""),
        sequence=(48, 16, ""),
        mtu=(32, 32, ""),
    ),
    "igmp": _fields(type=(0, 8, "igmp_type"), mrt=(8, 8, ""), checksum=(16, 16, ""), group=(32, 32, "ipv4_addr")),
    "esp": _fields(spi=(0, 32, ""), sequence=(32, 32, "")),
    "ah": _fields(nexthdr=(0, 8, "inet_proto"), hdrlength=(8, 8, ""), spi=(32, 32, ""), sequence=(64, 32, "")),
}

# What a header carries, by the number in the one below.
TRANSPORTS = {
    1: "icmp",
    2: "igmp",
    6: "tcp",
    17: "udp",
    33: "dccp",
    50: "esp",
    51: "ah",
    58: "icmpv6",
    132: "sctp",
    136: "udplite",
}
NETWORKS = {0x0800: "ip", 0x0806: "arp", 0x86DD: "ip6"}
VLAN_TYPES = (0x8100, 0x88A8)
NETWORK_FAMILIES = {2: "ip", 10: "ip6"}


def fields_at(header: str, start: int, length: int) -> tuple[Field, ...]:
    """The fields that lie one after the other in just these bits; empty if there are none."""
    known = HEADERS.get(header, ())
    exact = next((one for one in known if (one.start, one.length) == (start, length)), None)
    if exact is not None:
        return (exact,)
    found: list[Field] = []
    at = start
    while at < start + length:
        following = next((one for one in known if one.start == at and at + one.length <= start + length), None)
        if following is None:
            return ()
        found.append(following)
        at += following.length
    return tuple(found)


def field_within(header: str, start: int, length: int, mask: int) -> Field | None:
    """The field whose bits are the ones of `mask`, which is `length` bits long and begins at `start`."""
    for one in HEADERS.get(header, ()):
        shift = start + length - one.start - one.length
        if one.start >= start and shift >= 0 and mask == ((1 << one.length) - 1) << shift:
            return one
    return None


def field_beginning(header: str, start: int, length: int) -> Field | None:
    """A longer field that begins there: whole bytes of an address are loaded alone for short prefixes."""
    known = HEADERS.get(header, ())
    return next((one for one in known if one.start == start and one.length > length), None)
