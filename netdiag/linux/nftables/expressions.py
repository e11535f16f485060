"""Expressions of a rule from NFTA_RULE_EXPRESSIONS: what each is called, and its parts as JSON could hold them.

Registers are numbers as the kernel gives them, data is in hexadecimal digits; other numbers are given by the words of
nft. Sources: linux/netfilter/nf_tables.h, nft(8).
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from netdiag.linux.netlink.nfnetlink import Malformed, attributes, number, table, text
from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import Expression
from netdiag.linux.xtables.extensions import decode_extension

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
