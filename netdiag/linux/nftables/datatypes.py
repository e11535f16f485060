"""Types of keys and values, how nft writes a value of each, and the fields of protocol headers that have these types.

The numbers of types are nft's own, which the kernel keeps without knowing them (NFTA_SET_KEY_TYPE); places and lengths
of fields are in bits. Sources: nft(8), RFC 791, RFC 8200, RFC 9293, RFC 768, RFC 792, RFC 4443, RFC 826, IEEE 802.1Q.
"""

import ipaddress
import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import UTC, datetime
from typing import NamedTuple

from netdiag.linux.ruleset import NUMBERS, protocol_word
from netdiag.values import dataclass

Name = Callable[[int], str]

_BITS, _MASK = 6, 0x3F
# The end of the year 9999, after which there are no dates.
_LATEST = 253_402_300_799


@dataclass(frozen=True, slots=True, kw_only=True)
class DataType:
    """`host` is True for numbers in the machine's order; `words` name some values, `flags` name bits."""

    name: str
    size: int = 4
    host: bool = False
    kind: str = "number"
    words: Mapping[int, str] = field(default_factory=dict)


_ICMP = {
    0: "echo-reply",
    3: "destination-unreachable",
    4: "source-quench",
    5: "redirect",
    8: "echo-request",
    9: "router-advertisement",
    10: "router-solicitation",
    11: "time-exceeded",
    12: "parameter-problem",
    13: "timestamp-request",
    14: "timestamp-reply",
    15: "info-request",
    16: "info-reply",
    17: "address-mask-request",
    18: "address-mask-reply",
}
_ICMP6 = {
    1: "destination-unreachable",
    2: "packet-too-big",
    3: "time-exceeded",
    4: "parameter-problem",
    128: "echo-request",
    129: "echo-reply",
    130: "mld-listener-query",
    131: "mld-listener-report",
    132: "mld-listener-done",
    133: "nd-router-solicit",
    134: "nd-router-advert",
    135: "nd-neighbor-solicit",
    136: "nd-neighbor-advert",
    137: "nd-redirect",
    138: "router-renumbering",
    141: "ind-neighbor-solicit",
    142: "ind-neighbor-advert",
    143: "mld2-listener-report",
}
_IGMP = {
    0x11: "membership-query",
    0x12: "membership-report-v1",
    0x16: "membership-report-v2",
    0x22: "membership-report-v3",
    0x17: "leave-group",
}
_PROTOCOLS = {number: protocol_word(number) for number in NUMBERS.values() if number}
_ETHERTYPES = {
    0x0800: "ip",
    0x0806: "arp",
    0x86DD: "ip6",
    0x8100: "8021q",
    0x88A8: "8021ad",
    0x9100: "vlan",
}
_ADDRESS_TYPES = {
    0: "unspec",
    1: "unicast",
    2: "local",
    3: "broadcast",
    4: "anycast",
    5: "multicast",
    6: "blackhole",
    7: "unreachable",
    8: "prohibit",
}
_DSCP = {
    0: "cs0",
    8: "cs1",
    16: "cs2",
    24: "cs3",
    32: "cs4",
    40: "cs5",
    48: "cs6",
    56: "cs7",
    1: "lephb",
    10: "af11",
    12: "af12",
    14: "af13",
    18: "af21",
    20: "af22",
    22: "af23",
    26: "af31",
    28: "af32",
    30: "af33",
    34: "af41",
    36: "af42",
    38: "af43",
    44: "va",
    46: "ef",
}
_ARP_OPERATIONS = {1: "request", 2: "reply", 3: "rrequest", 4: "rreply", 8: "inrequest", 9: "inreply", 10: "nak"}
_TCP_FLAGS = {1: "fin", 2: "syn", 4: "rst", 8: "psh", 16: "ack", 32: "urg", 64: "ecn", 128: "cwr"}
_CT_STATES = {1: "invalid", 8: "new", 2: "established", 4: "related", 64: "untracked"}
_CT_STATUS = {
    1: "expected",
    2: "seen-reply",
    4: "assured",
    8: "confirmed",
    16: "snat",
    32: "dnat",
    512: "dying",
}
_PACKET_TYPES = {0: "host", 1: "broadcast", 2: "multicast", 3: "other"}
_ICMP_CODES = {
    0: "net-unreachable",
    1: "host-unreachable",
    2: "prot-unreachable",
    3: "port-unreachable",
    9: "net-prohibited",
    10: "host-prohibited",
    13: "admin-prohibited",
}
_ICMP6_CODES = {
    0: "no-route",
    1: "admin-prohibited",
    3: "addr-unreachable",
    4: "port-unreachable",
    5: "policy-fail",
    6: "reject-route",
}

INTEGER = DataType(name="integer")
TYPES: Mapping[int, DataType] = {
    1: DataType(name="verdict", size=16),
    2: DataType(name="nf_proto", size=1, words={2: "ipv4", 10: "ipv6"}),
    4: INTEGER,
    5: DataType(name="string", size=16, kind="string"),
    6: DataType(name="ll_addr", size=6, kind="mac"),
    7: DataType(name="ipv4_addr", kind="address"),
    8: DataType(name="ipv6_addr", size=16, kind="address"),
    9: DataType(name="ether_addr", size=6, kind="mac"),
    10: DataType(name="ether_type", size=2, words=_ETHERTYPES, kind="hex"),
    11: DataType(name="arp_op", size=2, words=_ARP_OPERATIONS),
    12: DataType(name="inet_proto", size=1, words=_PROTOCOLS),
    13: DataType(name="inet_service", size=2),
    14: DataType(name="icmp_type", size=1, words=_ICMP),
    15: DataType(name="tcp_flag", size=1, kind="flags", words=_TCP_FLAGS),
    18: DataType(name="time", kind="duration", host=True),
    19: DataType(name="mark", kind="mark", host=True),
    20: DataType(name="iface_index", kind="interface", host=True),
    21: DataType(name="iface_type", size=2, host=True, words={1: "ether", 512: "ppp", 772: "loopback", 768: "ipip"}),
    22: DataType(name="realm", host=True),
    23: DataType(name="classid", kind="classid", host=True),
    24: DataType(name="uid", host=True),
    25: DataType(name="gid", host=True),
    26: DataType(name="ct_state", kind="flags", host=True, words=_CT_STATES),
    27: DataType(name="ct_dir", size=1, words={0: "original", 1: "reply"}),
    28: DataType(name="ct_status", kind="flags", host=True, words=_CT_STATUS),
    29: DataType(name="icmpv6_type", size=1, words=_ICMP6),
    30: DataType(name="ct_label", size=16, kind="hex", host=True),
    31: DataType(name="pkt_type", size=1, words=_PACKET_TYPES),
    32: DataType(name="icmp_code", size=1, words=_ICMP_CODES),
    33: DataType(name="icmpv6_code", size=1, words=_ICMP6_CODES),
    35: DataType(name="devgroup", host=True),
    36: DataType(name="dscp", size=1, words=_DSCP, kind="hex"),
    37: DataType(name="ecn", size=1, words={0: "not-ect", 1: "ect1", 2: "ect0", 3: "ce"}),
    38: DataType(name="fib_addrtype", host=True, words=_ADDRESS_TYPES),
    39: DataType(name="boolean", size=1, words={0: "missing", 1: "exists"}),
    41: DataType(name="ifname", size=16, kind="string"),
    42: DataType(name="igmp_type", size=1, words=_IGMP),
    43: DataType(name="time_date", size=8, kind="time"),
    44: DataType(name="hour", kind="hour", host=True),
    45: DataType(
        name="day",
        size=1,
        kind="day",
        words=dict(enumerate(("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"))),
    ),
    46: DataType(name="cgroupsv2", size=8, host=True),
}
BY_NAME: Mapping[str, DataType] = {kind.name: kind for kind in TYPES.values()}


def parts(number: int) -> tuple[DataType, ...]:
    """The types of a key of several parts, six bits each, the first one highest."""
    found: list[DataType] = []
    while number:
        found.append(TYPES.get(number & _MASK, DataType(name=f"type{number & _MASK}")))
        number >>= _BITS
    return tuple(reversed(found))


def type_name(number: int) -> str:
    """ "ipv4_addr . inet_service"."""
    return " . ".join(kind.name for kind in parts(number)) or "integer"


def value_text(kind: DataType, data: bytes, *, host: bool | None = None, names: Name = str) -> str:
    """A value as nft writes it. `host` gives its byte order where that is not the type's own."""
    in_host_order = kind.host if host is None else host
    number = int.from_bytes(data, sys.byteorder if in_host_order else "big")
    match kind.kind:
        case "address":
            return str(ipaddress.ip_address(data)) if len(data) in (4, 16) else hex(number)
        case "mac":
            return data.hex(":")
        case "string":
            return quoted(data)
        case "flags":
            return flags_text(kind, number)
        case "mark":
            return f"0x{number:08x}"
        case "hex":
            return kind.words.get(number, f"0x{number:0{2 * len(data)}x}")
        case "interface":
            return quoted(names(number).encode("utf-8", errors="surrogateescape"))
        case "duration":
            return duration(number)
        case "time":
            return f'"{datetime.fromtimestamp(min(number // 1_000_000_000, _LATEST), UTC):%Y-%m-%d %H:%M:%S}"'
        case "hour":
            return f'"{number // 3600:02d}:{number // 60 % 60:02d}{f":{number % 60:02d}" if number % 60 else ""}"'
        case "day":
            return f'"{kind.words.get(number, str(number))}"'
        case "classid":
            return f"{number >> 16:x}:{number & 0xFFFF:x}"
        case _:
            return kind.words.get(number, str(number))


def flags_text(kind: DataType, number: int) -> str:
    """Bits by name, the lowest first."""
    words = [word for bit, word in sorted(kind.words.items()) if number & bit]
    rest = number & ~sum(kind.words)
    return ",".join([*words, *([f"0x{rest:x}"] if rest else [])]) or "0x0"


def quoted(data: bytes) -> str:
    """A string in quotation marks; bytes that are not UTF-8 become surrogates."""
    text = data.split(b"\0", 1)[0].decode("utf-8", errors="surrogateescape")
    return f'"{text}"'


def duration(milliseconds: int) -> str:
    """1d2h3m4s5ms."""
    left, words = milliseconds, ""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)):
        count, left = divmod(left, size)
        words += f"{count}{unit}" if count else ""
    return words or "0s"


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
    """The consecutive fields that fill exactly these bits; empty if there are none."""
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
