"""Requests to nf_tables as bytes, and its answers, one message each: tables, chains, rules, sets, elements.

Whoever sends a request sets its number and flags. A payload begins with the four bytes of nfgenmsg. Attributes are
foreign bytes, read within their bounds; numbers are in network order. The expressions of a rule
(NFTA_RULE_EXPRESSIONS) have their parts as JSON could hold them: registers are numbers as the kernel gives them, data
is in hexadecimal digits, other numbers are given by the words of nft. Sources: linux/netlink.h,
linux/netfilter/nfnetlink.h, linux/netfilter/nf_tables.h, nft(8).
"""

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from netdiag.errors import NetdiagError
from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import Chain, Expression
from netdiag.linux.xtables.rules import decode_extension
from netdiag.values import dataclass

_HEADER = struct.Struct("=HH")
_TYPE_MASK = 0x3FFF
_unpack = _HEADER.unpack_from


class Malformed(NetdiagError):
    """An answer of the kernel that cannot be read as what it should be."""


def attributes(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The attributes one after the other, as (type, value)."""
    start, end = 0, len(data)
    while end - start >= _HEADER.size:
        length, kind = _HEADER.unpack_from(data, start)
        if length < _HEADER.size or start + length > end:
            raise _wrong(kind, length, end - start)
        yield kind & _TYPE_MASK, data[start + _HEADER.size : start + length]
        start += (length + 3) & ~3


def _wrong(kind: int, length: int, left: int) -> Malformed:
    return Malformed(f"attribute {kind & _TYPE_MASK} of {length} bytes where {left} are left")


def table(data: memoryview) -> dict[int, memoryview]:
    """The attributes by type; of several of one type the last."""
    found: dict[int, memoryview] = {}
    start, end = 0, len(data)
    # the same as of `attributes`, without its generator: most of the time of a reading is spent here
    while end - start >= 4:
        length, kind = _unpack(data, start)
        if length < 4 or start + length > end:
            raise _wrong(kind, length, end - start)
        found[kind & _TYPE_MASK] = data[start + 4 : start + length]
        start += (length + 3) & ~3
    return found


def number(value: memoryview | None, default: int = 0) -> int:
    """A number of 1 to 8 bytes in network order."""
    return default if value is None else int.from_bytes(value[:8], "big")


def text(value: memoryview | None) -> str:
    """A string, which may end in a NUL; bytes that are no UTF-8 are kept as surrogates."""
    if value is None:
        return ""
    return bytes(value).split(b"\0", 1)[0].decode("utf-8", errors="surrogateescape")


def user_data(value: memoryview | None) -> dict[int, bytes]:
    """What nft notes beside its objects: triples of type, length and value, one byte each for the first two."""
    found: dict[int, bytes] = {}
    data = bytes(value or b"")
    start = 0
    while start + 2 <= len(data):
        kind, length = data[start], data[start + 1]
        if start + 2 + length > len(data):
            break
        found.setdefault(kind, data[start + 2 : start + 2 + length])
        start += 2 + length
    return found


def user_text(value: bytes | None) -> str:
    """A comment among the notes."""
    return (value or b"").split(b"\0", 1)[0].decode("utf-8", errors="surrogateescape")


META_KEYS = dict(
    enumerate(
        (
            *("length", "protocol", "priority", "mark", "iif", "oif", "iifname", "oifname", "iiftype", "oiftype"),
            *("skuid", "skgid", "nftrace", "rtclassid", "secmark", "nfproto", "l4proto", "ibrname", "obrname"),
            *("pkttype", "cpu", "iifgroup", "oifgroup", "cgroup", "random", "ipsec", "iifkind", "oifkind"),
            *("ibrpvid", "ibrvproto", "time", "day", "hour", "sdif", "sdifname", "broute"),
        )
    )
)
CT_KEYS = dict(
    enumerate(
        (
            *("state", "direction", "status", "mark", "secmark", "expiration", "helper", "l3proto", "src", "dst"),
            *("protocol", "proto_src", "proto_dst", "label", "packets", "bytes", "avgpkt", "zone", "event"),
            *("src_ip", "dst_ip", "src_ip6", "dst_ip6", "id"),
        )
    )
)
PAYLOAD_BASES = {0: "link", 1: "network", 2: "transport", 3: "inner", 4: "tunnel"}
COMPARISONS = {0: "==", 1: "!=", 2: "<", 3: "<=", 4: ">", 5: ">="}
BITWISE = {0: "mask-xor", 1: "<<", 2: ">>", 3: "&", 4: "|", 5: "^"}
DIRECTIONS = {0: "original", 1: "reply"}
FIB_RESULTS = {1: "oif", 2: "oifname", 3: "type"}
REJECT_TYPES = {0: "icmp", 1: "tcp reset", 2: "icmpx"}
ICMP_REJECTS = {
    0: "net-unreachable",
    1: "host-unreachable",
    2: "prot-unreachable",
    3: "port-unreachable",
    9: "net-prohibited",
    10: "host-prohibited",
    13: "admin-prohibited",
}
ICMP6_REJECTS = {
    0: "no-route",
    1: "admin-prohibited",
    3: "addr-unreachable",
    4: "port-unreachable",
    5: "policy-fail",
    6: "reject-route",
}
ICMPX_REJECTS = {0: "no-route", 1: "port-unreachable", 2: "host-unreachable", 3: "admin-prohibited"}
OBJECTS = {
    1: "counter",
    2: "quota",
    3: "ct helper",
    4: "limit",
    5: "ct count",
    6: "tunnel",
    7: "ct timeout",
    8: "secmark",
    9: "ct expectation",
    10: "synproxy",
}
DYNSET = {0: "add", 1: "update", 2: "delete"}
RT_KEYS = {0: "classid", 1: "nexthop4", 2: "nexthop6", 3: "mtu", 4: "ipsec"}
SOCKET_KEYS = {0: "transparent", 1: "mark", 2: "wildcard", 3: "cgroupv2"}
VERDICTS = {0: "drop", 1: "accept", 3: "queue", -1: "continue", -2: "break", -3: "jump", -4: "goto", -5: "return"}
HOOKS = {0: "prerouting", 1: "input", 2: "forward", 3: "output", 4: "postrouting", 5: "ingress"}
NETDEV_HOOKS = {0: "ingress", 1: "egress"}
ARP_HOOKS = {0: "input", 1: "output", 2: "forward"}
POLICIES = {0: "drop", 1: "accept"}


Words = Mapping[int, str]
Part = tuple[str, str | Words]

_NAME, _DATA, _ELEMENT = 1, 2, 1
_VALUE, _VERDICT = 1, 2
_MOST_EXPRESSIONS = 512
_INVERT = 1

# attribute -> its name and what it is: "number", "text", "data", "flag" for nothing of interest, or words by number
_PARTS: Mapping[str, Mapping[int, Part]] = {
    "meta": {1: ("dreg", "number"), 2: ("key", META_KEYS), 3: ("sreg", "number")},
    "payload": {
        1: ("dreg", "number"),
        2: ("base", PAYLOAD_BASES),
        3: ("offset", "number"),
        4: ("len", "number"),
        5: ("sreg", "number"),
        6: ("checksum", "number"),
        7: ("checksum_offset", "number"),
        8: ("checksum_flags", "number"),
    },
    "cmp": {1: ("sreg", "number"), 2: ("op", COMPARISONS), 3: ("data", "data")},
    "range": {1: ("sreg", "number"), 2: ("op", COMPARISONS), 3: ("from", "data"), 4: ("to", "data")},
    "bitwise": {
        1: ("sreg", "number"),
        2: ("dreg", "number"),
        3: ("len", "number"),
        4: ("mask", "data"),
        5: ("xor", "data"),
        6: ("op", BITWISE),
        7: ("data", "data"),
    },
    "byteorder": {
        1: ("sreg", "number"),
        2: ("dreg", "number"),
        3: ("op", {0: "ntoh", 1: "hton"}),
        4: ("len", "number"),
        5: ("size", "number"),
    },
    "immediate": {1: ("dreg", "number"), 2: ("data", "data")},
    "lookup": {
        1: ("set", "text"),
        2: ("sreg", "number"),
        3: ("dreg", "number"),
        4: ("id", "-"),
        5: ("flags", "number"),
    },
    "ct": {1: ("dreg", "number"), 2: ("key", CT_KEYS), 3: ("direction", DIRECTIONS), 4: ("sreg", "number")},
    "fib": {1: ("dreg", "number"), 2: ("result", FIB_RESULTS), 3: ("flags", "number")},
    "nat": {
        1: ("type", {0: "snat", 1: "dnat"}),
        2: ("family", {2: "ip", 10: "ip6", 1: "inet"}),
        3: ("address_min", "number"),
        4: ("address_max", "number"),
        5: ("port_min", "number"),
        6: ("port_max", "number"),
        7: ("range_flags", "number"),
    },
    "masq": {1: ("range_flags", "number"), 2: ("port_min", "number"), 3: ("port_max", "number")},
    "redir": {1: ("port_min", "number"), 2: ("port_max", "number"), 3: ("range_flags", "number")},
    "reject": {1: ("type", REJECT_TYPES), 2: ("code", "number")},
    "log": {
        1: ("group", "number"),
        2: ("prefix", "text"),
        3: ("snaplen", "number"),
        4: ("threshold", "number"),
        5: ("level", "number"),
        6: ("flags", "number"),
    },
    "limit": {
        1: ("rate", "number"),
        2: ("unit", "number"),
        3: ("burst", "number"),
        4: ("type", {0: "packets", 1: "bytes"}),
        5: ("flags", "number"),
        6: ("pad", "-"),
    },
    "quota": {1: ("bytes", "number"), 2: ("flags", "number"), 3: ("pad", "-"), 4: ("consumed", "number")},
    "connlimit": {1: ("count", "number"), 2: ("flags", "number")},
    "objref": {
        1: ("type", OBJECTS),
        2: ("name", "text"),
        3: ("sreg", "number"),
        4: ("set", "text"),
        5: ("id", "-"),
    },
    "dynset": {
        1: ("set", "text"),
        2: ("id", "-"),
        3: ("op", DYNSET),
        4: ("sreg", "number"),
        5: ("data_sreg", "number"),
        6: ("timeout", "number"),
        7: ("expression", "-"),
        8: ("pad", "-"),
        9: ("flags", "number"),
        10: ("expressions", "-"),
    },
    "queue": {1: ("num", "number"), 2: ("total", "number"), 3: ("flags", "number"), 4: ("sreg", "number")},
    "tproxy": {1: ("family", "number"), 2: ("address", "number"), 3: ("port", "number")},
    "dup": {1: ("address", "number"), 2: ("device", "number")},
    "fwd": {1: ("device", "number"), 2: ("address", "number"), 3: ("family", "number")},
    "numgen": {
        1: ("dreg", "number"),
        2: ("modulus", "number"),
        3: ("type", {0: "inc", 1: "random"}),
        4: ("offset", "number"),
    },
    "hash": {
        1: ("sreg", "number"),
        2: ("dreg", "number"),
        3: ("len", "number"),
        4: ("modulus", "number"),
        5: ("seed", "number"),
        6: ("offset", "number"),
        7: ("type", {0: "jhash", 1: "symhash"}),
    },
    "exthdr": {
        1: ("dreg", "number"),
        2: ("type", "number"),
        3: ("offset", "number"),
        4: ("len", "number"),
        5: ("flags", "number"),
        6: ("op", {0: "ipv6", 1: "tcpopt", 2: "ipv4", 3: "sctp", 4: "dccp"}),
        7: ("sreg", "number"),
    },
    "rt": {1: ("dreg", "number"), 2: ("key", RT_KEYS)},
    "socket": {1: ("key", SOCKET_KEYS), 2: ("dreg", "number"), 3: ("level", "number")},
    "osf": {1: ("dreg", "number"), 2: ("ttl", "number"), 3: ("flags", "number")},
    "synproxy": {1: ("mss", "number"), 2: ("wscale", "number"), 3: ("flags", "number")},
    "flow_offload": {1: ("flowtable", "text")},
    "notrack": {},
    "last": {1: ("set", "number"), 2: ("milliseconds", "number"), 3: ("pad", "-")},
    "counter": {1: ("bytes", "-"), 2: ("packets", "-"), 3: ("pad", "-")},
}


class Count(NamedTuple):
    """The figures of a counter."""

    packets: int
    bytes: int


def decode_expressions(data: memoryview, family: str) -> tuple[tuple[Expression, ...], Count | None]:
    """The expressions of a rule in order, and its first counter's figures."""
    found: list[Expression] = []
    count: Count | None = None
    for kind, element in attributes(data):
        if kind != _ELEMENT:
            continue
        if len(found) >= _MOST_EXPRESSIONS:
            raise Malformed(f"a rule of more than {_MOST_EXPRESSIONS} expressions")
        parts = table(element)
        name, inside = text(parts.get(_NAME)), parts.get(_DATA, memoryview(b""))
        if name == "counter" and count is None:
            count = decode_count(inside)
        found.append(decode_expression(name, inside, family))
    return tuple(found), count


def decode_count(data: memoryview) -> Count:
    """A counter's figures."""
    parts = table(data)
    return Count(packets=number(parts.get(2)), bytes=number(parts.get(1)))


def decode_expression(name: str, data: memoryview, family: str) -> Expression:
    """One expression."""
    if name in ("match", "target"):
        parts = table(data)
        info = bytes(parts.get(3, b""))
        return decode_extension(text(parts.get(1)), number(parts.get(2)), info, family=family, target=name == "target")
    if name == "immediate":
        return _immediate(data)
    known = _PARTS.get(name)
    if known is None:
        return Expression(name=name, fields={"hex": bytes(data[:64]).hex()}, understood=False)
    fields: dict[str, Detail] = {}
    understood = True
    for kind, value in attributes(data):
        part = known.get(kind)
        if part is None:
            understood = False
            continue
        word, what = part
        if what != "-":
            fields[word] = _value(value, what)
    _complete(name, fields, data, family)
    return Expression(name=name, fields=fields, understood=understood)


def _value(value: memoryview, what: str | Words) -> Detail:
    match what:
        case "number":
            return number(value)
        case "text":
            return text(value)
        case "data":
            return bytes(table(value).get(_VALUE, b"")).hex()
        case str():
            return bytes(value).hex()
        case _:
            code = number(value)
            return what.get(code, f"unknown({code})")


def _immediate(data: memoryview) -> Expression:
    parts = table(data)
    inside = table(parts.get(2, memoryview(b"")))
    if _VERDICT in inside:
        word, chain = decode_verdict(inside[_VERDICT])
        fields: dict[str, Detail] = {"verdict": word}
        if chain:
            fields["chain"] = chain
        return Expression(name="verdict", fields=fields, understood=not word.startswith("unknown"))
    value = bytes(inside.get(_VALUE, b"")).hex()
    return Expression(name="immediate", fields={"dreg": number(parts.get(1)), "data": value})


def decode_verdict(data: memoryview) -> tuple[str, str]:
    """The word of a verdict, and the chain that it jumps to."""
    parts = table(data)
    code = number(parts.get(1))
    signed = code - (1 << 32) if code >= 1 << 31 else code
    if signed >= 0 and signed & 0xFF == 3:
        return "queue", ""
    return VERDICTS.get(signed, f"unknown({signed})"), text(parts.get(2))


def _complete(name: str, fields: dict[str, Detail], data: memoryview, family: str) -> None:
    """What words do not tell alone."""
    flags = fields.get("flags")
    if name in ("lookup", "limit", "quota", "connlimit") and isinstance(flags, int) and flags & _INVERT:
        fields["invert"] = True
    if name == "reject":
        fields["kind"] = reject_kind(str(fields.get("type")), fields.get("code"), family)
    if name == "dynset":
        fields["expressions"] = _inner(data, family)


def _inner(data: memoryview, family: str) -> list[Detail]:
    """Statements that a dynset puts beside its elements, as lists of a name and its fields."""
    found = [value for kind, value in attributes(data) if kind == 7]
    found += [inner for kind, value in attributes(data) if kind == 10 for one, inner in attributes(value) if one == 1]
    return [*_named(found, family)]


def _named(found: list[memoryview], family: str) -> Iterator[Detail]:
    for element in found[:8]:
        parts = table(element)
        name = text(parts.get(_NAME))
        # One level is all that the kernel allows; a dynset within one would go down without end.
        if name != "dynset":
            fields = decode_expression(name, parts.get(_DATA, memoryview(b"")), family).fields
            yield [name, dict(fields)]


def reject_kind(kind: str, code: Detail, family: str) -> str:
    """What a reject sends, in the words of nft."""
    if kind == "tcp reset":
        return kind
    number_ = code if isinstance(code, int) else -1
    names = ICMPX_REJECTS if kind == "icmpx" else ICMP6_REJECTS if family == "ip6" else ICMP_REJECTS
    word = "icmpx" if kind == "icmpx" else "icmpv6" if family == "ip6" else "icmp"
    return f"{word} {names.get(number_, str(number_))}"


_SUBSYSTEM = 10
_GETTABLE, _GETCHAIN, _GETRULE, _GETSET, _GETSETELEM, _GETFLOWTABLE = 1, 4, 7, 10, 13, 23
_NLM_F_REQUEST, _NLM_F_DUMP = 0x1, 0x300
_MESSAGE = struct.Struct("=IHHIIBBH")
_UNSPECIFIED = 0
_TABLE, _SET = 1, 2

# NFPROTO_* by the words of nft.
FAMILIES = {"inet": 1, "ip": 2, "arp": 3, "netdev": 5, "bridge": 7, "ip6": 10}


def get_tables() -> bytes:
    """All tables of all families."""
    return _dump(_GETTABLE)


def get_chains() -> bytes:
    """All chains."""
    return _dump(_GETCHAIN)


def get_rules() -> bytes:
    """All rules."""
    return _dump(_GETRULE)


def get_sets() -> bytes:
    """All sets and maps, without their elements."""
    return _dump(_GETSET)


def get_flowtables() -> bytes:
    """All flow tables."""
    return _dump(_GETFLOWTABLE)


def get_elements(family: str, table: str, name: str) -> bytes:
    """The elements of one set."""
    words = (_TABLE, table), (_SET, name)
    return _dump(_GETSETELEM, FAMILIES[family], b"".join(_attribute(kind, word) for kind, word in words))


def _dump(kind: int, family: int = _UNSPECIFIED, attributes: bytes = b"") -> bytes:
    flags = _NLM_F_REQUEST | _NLM_F_DUMP
    header = _MESSAGE.pack(_MESSAGE.size + len(attributes), _SUBSYSTEM << 8 | kind, flags, 0, 0, family, 0, 0)
    return header + attributes


def _attribute(kind: int, word: str) -> bytes:
    value = word.encode("utf-8", errors="surrogateescape") + b"\0"
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


_FAMILY_NAMES = {code: word for word, code in FAMILIES.items()}
_HEADER_SIZE = 4
_FIELD_LENGTHS = 2
SET_FLAGS = {2: "constant", 4: "interval", 16: "timeout", 32: "dynamic"}
ANONYMOUS, INTERVAL, MAP, OBJECT_MAP, CONCATENATION = 1, 4, 8, 64, 128
_INTERVAL_END, _CATCH_ALL = 1, 2
_MOST_FIELDS = 16


class TableId(NamedTuple):
    """The table that an object belongs to."""

    family: str
    table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleMessage:
    """A rule with its table and chain."""

    place: TableId
    chain: str
    handle: int
    expressions: tuple[Expression, ...]
    count: Count | None
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMessage:
    """A set without its elements. `key_order` and `data_order` are 1 for the machine's byte order, 2 for network's."""

    place: TableId
    name: str
    flags: int
    key_type: int
    key_length: int
    data_type: int
    data_length: int
    field_lengths: tuple[int, ...] = ()
    object_type: str = ""
    timeout: int = 0
    key_order: int = 0
    data_order: int = 0
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementMessage:
    """One element. `closes` is the end of an interval, not an element; `rest` stands for all others."""

    key: bytes
    last: bytes = b""
    value: bytes = b""
    verdict: str = ""
    chain: str = ""
    object_name: str = ""
    closes: bool = False
    rest: bool = False
    timeout: int = 0
    comment: str = ""
    statements: tuple[Expression, ...] = ()


def _opened(payload: memoryview) -> tuple[str, dict[int, memoryview]]:
    if len(payload) < _HEADER_SIZE:
        raise Malformed("a message without a header")
    code = payload[0]
    return _FAMILY_NAMES.get(code, f"family {code}"), table(payload[_HEADER_SIZE:])


def decode_table(payload: memoryview) -> TableId:
    """A table."""
    family, parts = _opened(payload)
    return TableId(family, text(parts.get(1)))


def decode_chain(payload: memoryview) -> tuple[TableId, Chain]:
    """A chain, still without its rules."""
    family, parts = _opened(payload)
    place = TableId(family, text(parts.get(1)))
    name, handle = text(parts.get(3)), number(parts.get(2))
    if 4 not in parts:
        return place, Chain(name=name, handle=handle)
    hook = table(parts[4])
    count = decode_count(parts[8]) if 8 in parts else None
    devices = [text(value) for kind, value in attributes(hook[4]) if kind == 1] if 4 in hook else []
    if 3 in hook and not devices:
        devices = [text(hook[3])]
    priority = number(hook.get(2))
    hooks = {"netdev": NETDEV_HOOKS, "arp": ARP_HOOKS}.get(family, HOOKS)
    code = number(hook.get(1))
    return place, Chain(
        name=name,
        handle=handle,
        hook=hooks.get(code, f"hook {code}"),
        type=text(parts.get(7)),
        priority=priority - (1 << 32) if priority >= 1 << 31 else priority,
        policy=POLICIES.get(number(parts.get(5), 1), ""),
        packets=count.packets if count else None,
        bytes=count.bytes if count else None,
        devices=tuple(devices),
    )


def decode_rule(payload: memoryview) -> RuleMessage:
    """A rule."""
    family, parts = _opened(payload)
    expressions, count = decode_expressions(parts.get(4, memoryview(b"")), family)
    return RuleMessage(
        place=TableId(family, text(parts.get(1))),
        chain=text(parts.get(2)),
        handle=number(parts.get(3)),
        expressions=expressions,
        count=count,
        comment=user_text(user_data(parts.get(7)).get(0)),
    )


def decode_rule_count(payload: memoryview) -> tuple[TableId, str, int, Count | None]:
    """Table, chain, handle and first counter of a rule; nothing else of it is read."""
    family, parts = _opened(payload)
    count = None
    for _, element in attributes(parts.get(4, memoryview(b""))):
        inside = table(element)
        if text(inside.get(1)) == "counter":
            count = decode_count(inside.get(2, memoryview(b"")))
            break
    return TableId(family, text(parts.get(1))), text(parts.get(2)), number(parts.get(3)), count


def decode_set(payload: memoryview) -> SetMessage:
    """A set or map."""
    family, parts = _opened(payload)
    notes = user_data(parts.get(13))
    return SetMessage(
        place=TableId(family, text(parts.get(1))),
        name=text(parts.get(2)),
        flags=number(parts.get(3)),
        key_type=number(parts.get(4)),
        key_length=number(parts.get(5)),
        data_type=number(parts.get(6)),
        data_length=number(parts.get(7)),
        field_lengths=tuple(_field_lengths(parts.get(9))),
        object_type=OBJECTS.get(number(parts.get(15)), "") if 15 in parts else "",
        timeout=number(parts.get(11)),
        key_order=_order(notes.get(0)),
        data_order=_order(notes.get(1)),
        comment=user_text(notes.get(7)),
    )


def _order(note: bytes | None) -> int:
    # nft writes these in the machine's order, one of two small numbers either way
    return max(note, default=0) if note else 0


def _field_lengths(description: memoryview | None) -> Iterator[int]:
    if description is None:
        return
    concatenation = table(description).get(_FIELD_LENGTHS)
    if concatenation is None:
        return
    for at, (_, field) in enumerate(attributes(concatenation)):
        if at >= _MOST_FIELDS:
            raise Malformed(f"a key of more than {_MOST_FIELDS} parts")
        yield number(table(field).get(1))


def decode_elements(payload: memoryview) -> Iterator[ElementMessage]:
    """The elements in one message."""
    family, parts = _opened(payload)
    for _, element in attributes(parts.get(3, memoryview(b""))):
        yield _element(table(element), family)


def _element(parts: dict[int, memoryview], family: str) -> ElementMessage:
    flags = number(parts.get(3))
    verdict, chain, value = "", "", b""
    if 2 in parts:
        data = table(parts[2])
        if 2 in data:
            verdict, chain = decode_verdict(data[2])
        value = bytes(data.get(1, b""))
    statements = _statements(parts, family)
    return ElementMessage(
        key=_key(parts.get(1)),
        last=_key(parts.get(10)),
        value=value,
        verdict=verdict,
        chain=chain,
        object_name=text(parts.get(9)),
        closes=bool(flags & _INTERVAL_END),
        rest=bool(flags & _CATCH_ALL),
        timeout=number(parts.get(4)),
        comment=user_text(user_data(parts.get(6)).get(0)),
        statements=statements,
    )


def _key(value: memoryview | None) -> bytes:
    return b"" if value is None else bytes(table(value).get(1, b""))


def _statements(parts: dict[int, memoryview], family: str) -> tuple[Expression, ...]:
    if 11 in parts:
        return decode_expressions(parts[11], family)[0]
    return ()
