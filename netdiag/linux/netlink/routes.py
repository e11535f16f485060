"""Routes of all tables, and the rules that choose a table (rtnetlink(7), linux/rtnetlink.h, linux/fib_rules.h)."""

import struct
from functools import partial

from netdiag.linux.netlink.messages import (
    Fields,
    Malformed,
    MessageType,
    attributes,
    hexadecimal,
    ip_address,
    network_number,
    number,
    read_fields,
    request,
    text,
    truth,
    word,
)
from netdiag.linux.rtnetlink import Detail, NextHop, Route, RoutingRule

# struct rtmsg, and struct fib_rule_hdr, which is laid out like it
_RTMSG = struct.Struct("=BBBBBBBBI")
_HOP = struct.Struct("=HBBi")
_IPV4, _IPV6 = 2, 10
_DESTINATION, _SOURCE, _OIF, _GATEWAY, _PRIORITY, _PREFSRC, _METRICS, _MULTIPATH = 1, 2, 4, 5, 6, 7, 8, 9
_TABLE, _VIA, _PREF, _ENCAP_TYPE, _EXPIRES, _NEXTHOP_ID = 15, 18, 20, 21, 23, 30
# The low byte of a route's flags are those of its only hop (RTNH_F_*).
_HOP_FLAGS = 0xFF
_TYPES = (
    "none",
    "unicast",
    "local",
    "broadcast",
    "anycast",
    "multicast",
    "blackhole",
    "unreachable",
    "prohibit",
    "throw",
    "nat",
    "xresolve",
)
_PREFERENCES = {0: "medium", 1: "high", 3: "low"}
_ENCAPSULATIONS = {
    1: "mpls",
    2: "ip",
    3: "ila",
    4: "ip6",
    5: "seg6",
    6: "bpf",
    7: "seg6local",
    8: "rpl",
    9: "ioam6",
    10: "xfrm",
}
_DETAIL_ATTRIBUTES = frozenset((_PREF, _ENCAP_TYPE, _EXPIRES, _NEXTHOP_ID))
_DETAILS: Fields = {
    _PREF: ("pref", word(_PREFERENCES)),
    _ENCAP_TYPE: ("encap", word(_ENCAPSULATIONS)),
    _EXPIRES: ("expires", number),
    _NEXTHOP_ID: ("nhid", number),
}


def _features(data: bytes) -> Detail:
    value = number(data)
    return [name for bit, name in ((1, "ecn"), (8, "tcp_usec_ts")) if value & bit]


def _eighths(data: bytes) -> Detail:
    return number(data) // 8


def _quarters(data: bytes) -> Detail:
    return number(data) // 4


# RTAX_*; round trip times are kept in eighths and quarters of a millisecond.
_METRICS_FIELDS: Fields = {
    1: ("lock", number),
    2: ("mtu", number),
    3: ("window", number),
    4: ("rtt", _eighths),
    5: ("rttvar", _quarters),
    6: ("ssthresh", number),
    7: ("cwnd", number),
    8: ("advmss", number),
    9: ("reordering", number),
    10: ("hoplimit", number),
    11: ("initcwnd", number),
    12: ("features", _features),
    13: ("rto_min", number),
    14: ("initrwnd", number),
    15: ("quickack", number),
    16: ("congestion", text),
    17: ("fastopen_no_cookie", truth),
}


def request_routes() -> bytes:
    """All routes of both families and all tables; answers of other families may come along."""
    return request(MessageType.GET_ROUTE, _RTMSG.pack(0, 0, 0, 0, 0, 0, 0, 0, 0))


def decode_route(payload: memoryview | bytes) -> Route | None:
    """One route of a NEW_ROUTE message; None for another family than IPv4 and IPv6."""
    data = bytes(payload)
    if len(data) < _RTMSG.size:
        raise Malformed(f"a route of {len(data)} bytes")
    family, length, from_length, tos, table, protocol, scope, kind, flags = _RTMSG.unpack_from(data)
    if family not in (_IPV4, _IPV6):
        return None
    found = attributes(data, _RTMSG.size)
    get = found.get
    wide, priority, source, metrics = get(_TABLE), get(_PRIORITY), get(_PREFSRC), get(_METRICS)
    return Route(
        family=4 if family == _IPV4 else 6,
        destination=_prefix(get(_DESTINATION), length, family) or ("0.0.0.0/0" if family == _IPV4 else "::/0"),
        table=number(wide) if wide is not None else table,
        type=_TYPES[kind] if kind < len(_TYPES) else f"TYPE({kind})",
        scope=scope,
        protocol=protocol,
        priority=number(priority) if priority is not None else 0,
        source=ip_address(source) if source is not None else "",
        from_prefix=_prefix(get(_SOURCE), from_length, family),
        tos=tos,
        hops=_hops(found, flags),
        metrics=_metrics(metrics) if metrics is not None else {},
        flags=flags,
        details={} if _DETAIL_ATTRIBUTES.isdisjoint(found) else _route_details(found),
    )


def _prefix(data: bytes | None, length: int, family: int) -> str:
    """ "" for neither an address nor a length."""
    if data is not None:
        return f"{ip_address(data)}/{length}"
    if not length:
        return ""
    return f"0.0.0.0/{length}" if family == _IPV4 else f"::/{length}"


def _hops(found: dict[int, bytes], flags: int) -> tuple[NextHop, ...]:
    several = found.get(_MULTIPATH)
    if several is not None:
        return _multipath(several)
    device = found.get(_OIF)
    gateway = _gateway(found)
    if device is None and not gateway:
        return ()
    return (NextHop(gateway=gateway, ifindex=number(device) if device is not None else None, flags=flags & _HOP_FLAGS),)


def _gateway(found: dict[int, bytes]) -> str:
    gateway = found.get(_GATEWAY)
    if gateway is not None:
        return ip_address(gateway)
    # a family, which the length tells, too, and an address
    via = found.get(_VIA)
    return ip_address(via[2:]) if via is not None else ""


def _multipath(data: bytes) -> tuple[NextHop, ...]:
    hops = []
    start, end = 0, len(data)
    while start < end:
        if end - start < _HOP.size:
            raise Malformed(f"{end - start} bytes after the last hop")
        length, flags, weight, ifindex = _HOP.unpack_from(data, start)
        if not _HOP.size <= length <= end - start:
            raise Malformed(f"a hop says {length} bytes of {end - start}")
        gateway = _gateway(attributes(data[start + _HOP.size : start + length]))
        hops.append(NextHop(gateway=gateway, ifindex=ifindex or None, weight=weight + 1, flags=flags))
        start += (length + 3) & ~3
    return tuple(hops)


def _metrics(data: bytes) -> dict[str, Detail]:
    return read_fields(attributes(data), _METRICS_FIELDS, where="RTAX", undecoded={})


def _route_details(found: dict[int, bytes]) -> dict[str, Detail]:
    extras = {key: found[key] for key in _DETAIL_ATTRIBUTES if key in found}
    return read_fields(extras, _DETAILS, where="RTA", undecoded={})


_TO, _FROM = 1, 2
_INVERTED, _UNRESOLVED, _IN_GONE, _OUT_GONE = 0x2, 0x4, 0x8, 0x10
_ACTIONS = {1: "lookup", 2: "goto", 3: "nop", 6: "blackhole", 7: "unreachable", 8: "prohibit"}
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 33: "dccp", 58: "ipv6-icmp", 132: "sctp"}
_PORTS = struct.Struct("=HH")
_USERS = struct.Struct("=II")
_UNSET = 0xFFFFFFFF


def _mask(data: bytes) -> Detail:
    """`ip` leaves out a mask of all bits."""
    return {"fwmask": hexadecimal(data)} if number(data) != _UNSET else {}


def _users(data: bytes) -> Detail:
    if len(data) != _USERS.size:
        raise Malformed(f"a range of users of {len(data)} bytes")
    first, last = _USERS.unpack(data)
    return {"uid_start": first, "uid_end": last}


def _ports(name: str, data: bytes) -> Detail:
    if len(data) != _PORTS.size:
        raise Malformed(f"a range of ports of {len(data)} bytes")
    first, last = _PORTS.unpack(data)
    return {name: first} if first == last else {f"{name}_start": first, f"{name}_end": last}


def _suppressed(name: str, data: bytes) -> Detail:
    return {name: number(data)} if number(data) != _UNSET else {}


def _l3mdev(data: bytes) -> Detail:
    return {"l3mdev": None} if number(data) else {}


def _realms(data: bytes) -> Detail:
    value = number(data)
    return {"flow_from": value >> 16, "flow_to": value & 0xFFFF} if value >> 16 else {"flow_to": value}


_CONDITIONS: Fields = {
    3: ("iif", text),
    4: ("goto", number),
    10: ("fwmark", hexadecimal),
    11: (None, _realms),
    12: ("tun_id", network_number),
    13: (None, partial(_suppressed, "suppress_ifgroup")),
    14: (None, partial(_suppressed, "suppress_prefixlen")),
    16: (None, _mask),
    17: ("oif", text),
    19: (None, _l3mdev),
    20: (None, _users),
    21: ("protocol", number),
    22: ("ipproto", word(_PROTOCOLS)),
    23: (None, partial(_ports, "sport")),
    24: (None, partial(_ports, "dport")),
    25: ("dscp", number),
    26: ("flowlabel", network_number),
    27: ("flowlabel_mask", network_number),
    28: ("sport_mask", hexadecimal),
    29: ("dport_mask", hexadecimal),
    30: ("dscp_mask", hexadecimal),
}
_OWN_FIELDS = frozenset((_TO, _FROM, _PRIORITY, _TABLE, 18))


def request_routing_rules() -> bytes:
    """All routing policy rules of both families; those of multicast routing may come along."""
    return request(MessageType.GET_RULE, _RTMSG.pack(0, 0, 0, 0, 0, 0, 0, 0, 0))


def decode_routing_rule(payload: memoryview | bytes) -> RoutingRule | None:
    """One rule of a NEW_RULE message; None for another family than IPv4 and IPv6.

    `protocol` in the details is who made the rule, a number (2 is the kernel). Conditions that are not known here are
    in the details as "FRA/number" with hexadecimal digits: such a rule cannot be evaluated.
    """
    data = bytes(payload)
    if len(data) < _RTMSG.size:
        raise Malformed(f"a rule of {len(data)} bytes")
    family, to_length, from_length, tos, table, _, _, action, flags = _RTMSG.unpack_from(data)
    if family not in (_IPV4, _IPV6):
        return None
    found = attributes(data, _RTMSG.size)
    get = found.get
    wide, priority = get(_TABLE), get(_PRIORITY)
    return RoutingRule(
        family=4 if family == _IPV4 else 6,
        priority=number(priority) if priority is not None else 0,
        action=_ACTIONS.get(action) or f"ACTION({action})",
        table=number(wide) if wide is not None else table,
        from_prefix=_prefix(get(_FROM), from_length, family),
        to_prefix=_prefix(get(_TO), to_length, family),
        details=_rule_details(found, tos, flags),
    )


def _rule_details(found: dict[int, bytes], tos: int, flags: int) -> dict[str, Detail]:
    unknown: dict[str, str] = {}
    conditions = {key: value for key, value in found.items() if key not in _OWN_FIELDS}
    details = read_fields(conditions, _CONDITIONS, where="FRA", undecoded=unknown)
    details.update(unknown)
    if tos:
        details["tos"] = f"{tos:#04x}"
    for flag, name in (
        (_INVERTED, "not"),
        (_UNRESOLVED, "unresolved"),
        (_IN_GONE, "iif_detached"),
        (_OUT_GONE, "oif_detached"),
    ):
        if flags & flag:
            details[name] = None
    return details
