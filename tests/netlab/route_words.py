"""Routes and rules in the words of `ip -d -j -N`, ours and its own."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from netdiag.linux.rtnetlink import NextHop
from netdiag.topology.inventory import NamespaceFacts
from tests.netlab.iproute2_output import Iproute2Output

_TYPES = {
    "unicast": 1,
    "local": 2,
    "broadcast": 3,
    "anycast": 4,
    "multicast": 5,
    "blackhole": 6,
    "unreachable": 7,
    "prohibit": 8,
    "throw": 9,
}
_PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17, "dccp": 33, "ipv6-icmp": 58, "sctp": 132}
_HOP_FLAGS = {0x1: "dead", 0x2: "pervasive", 0x4: "onlink", 0x8: "offload", 0x10: "linkdown", 0x20: "unresolved"}
# Of a route as a whole (RTM_F_*)
_ROUTE_FLAGS = {0x4000: "rt_offload", 0x8000: "rt_trap"}
# Told by the kernel of every rule with a port; iproute2 prints them since 6.15 only.
_RECENT = frozenset(("sport_mask", "dport_mask", "dscp_mask"))

Thing = tuple[Hashable, dict[str, Any]]


def our_routes(facts: NamespaceFacts, names: Mapping[int, str]) -> Iterator[Thing]:
    """By everything that makes a route another one."""
    for one in facts.routes:
        key = (one.family, one.destination, one.table, _TYPES.get(one.type, one.type), one.priority, one.tos)
        single = len(one.hops) == 1
        flags = {word for bit, word in (_HOP_FLAGS | _ROUTE_FLAGS).items() if one.flags & bit}
        told = {
            "protocol": one.protocol,
            "scope": one.scope,
            "source": one.source,
            "hops": [] if single or not one.hops else [_our_hop(hop, names) for hop in one.hops],
            "gateway": one.hops[0].gateway if single else "",
            "device": _device(one.hops[0].ifindex, names) if single else "",
            "flags": flags,
            "metrics": dict(one.metrics),
            "nhid": one.details.get("nhid"),
            "pref": one.details.get("pref"),
            "encap": one.details.get("encap"),
        }
        yield (*key, one.from_prefix), told


def their_routes(said: Iproute2Output) -> Iterator[Thing]:
    """By everything that makes a route another one."""
    for family, name in ((4, "route"), (6, "route6")):
        for one in said[name]:
            key = (family, _prefix(one["dst"], family), int(one["table"]), _type(one["type"]), one.get("metric", 0))
            tos = int(one.get("tos", "0"), 16)
            origin = _prefix(one["from"], family) if "from" in one else ""
            told = {
                "protocol": int(one["protocol"]),
                "scope": int(one["scope"]),
                "source": one.get("prefsrc", ""),
                "hops": [_their_hop(hop) for hop in one.get("nexthops", ())],
                "gateway": _gateway(one),
                "device": one.get("dev", ""),
                "flags": set(one["flags"]),
                "metrics": one["metrics"][0] if one.get("metrics") else {},
                "nhid": one.get("nhid"),
                "pref": one.get("pref"),
                "encap": one["encap"]["encap_type"] if isinstance(one.get("encap"), dict) else one.get("encap"),
            }
            yield (*key, tos, origin), told


def our_rules(facts: NamespaceFacts) -> Iterator[Thing]:
    """By family and priority; what else a rule says are its fields."""
    for one in facts.rules:
        details = dict(one.details)
        protocol = details.pop("protocol", None)
        said: dict[str, Any] = {**details, "protocol": protocol}
        if one.action == "nop":
            said["nop"] = None
        elif one.action not in ("lookup", "goto"):
            said["action"] = _TYPES.get(one.action, one.action)
        if one.table:
            said["table"] = one.table
        said["src"] = one.from_prefix
        said["dst"] = one.to_prefix
        if "ipproto" in said:
            said["ipproto"] = _PROTOCOLS.get(str(said["ipproto"]), said["ipproto"])
        yield (one.family, one.priority, tuple(sorted(set(said) - _RECENT))), said


def their_rules(said: Iproute2Output) -> Iterator[Thing]:
    """By family and priority; what else a rule says are its fields."""
    for family, name in ((4, "rule"), (6, "rule6")):
        for one in said[name]:
            rest = {key: value for key, value in one.items() if key not in ("srclen", "dstlen", "priority")}
            rest["src"] = "" if one["src"] == "all" else _address(one["src"], one.get("srclen"), family)
            rest["dst"] = _address(one["dst"], one.get("dstlen"), family) if "dst" in one else ""
            if "ipproto" in one:
                rest["ipproto"] = _number(one["ipproto"].removeprefix("ipproto-"), _PROTOCOLS)
            if "action" in one:
                rest["action"] = _type(one["action"])
            if "table" in one:
                rest["table"] = int(one["table"])
            rest["protocol"] = int(one["protocol"])
            yield (family, one["priority"], tuple(sorted(set(rest) - _RECENT))), rest


def _our_hop(hop: NextHop, names: Mapping[int, str]) -> tuple[Hashable, ...]:
    flags = sorted(word for bit, word in _HOP_FLAGS.items() if hop.flags & bit)
    return hop.gateway, _device(hop.ifindex, names), hop.weight, tuple(flags)


def _their_hop(hop: Mapping[str, Any]) -> tuple[Hashable, ...]:
    return _gateway(hop), hop.get("dev", ""), hop["weight"], tuple(sorted(hop["flags"]))


def _gateway(one: Mapping[str, Any]) -> str:
    return str(one["via"]["host"] if "via" in one else one.get("gateway", ""))


def _prefix(text: str, family: int) -> str:
    if text == "default":
        return "0.0.0.0/0" if family == 4 else "::/0"
    return text if "/" in text else f"{text}/{32 if family == 4 else 128}"


def _address(text: str, length: int | None, family: int) -> str:
    if text == "0":
        text = "0.0.0.0" if family == 4 else "::"
    return f"{text}/{(32 if family == 4 else 128) if length is None else length}"


def _type(text: str) -> int | str:
    return _number(text, _TYPES)


def _number(text: str, names: Mapping[str, int]) -> int | str:
    return int(text) if text.isdecimal() else names.get(text, text)


def _device(ifindex: int | None, names: Mapping[int, str]) -> str:
    return names.get(ifindex, f"if{ifindex}") if ifindex is not None else ""
