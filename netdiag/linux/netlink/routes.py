"""RTM_GETROUTE: the routes of all tables (rtnetlink(7), linux/rtnetlink.h)."""

import struct

from netdiag.linux.link import Detail
from netdiag.linux.netlink.attributes import Malformed, attributes
from netdiag.linux.netlink.messages import MessageType, request
from netdiag.linux.netlink.readers import Fields, ip_address, number, read_fields, text, truth, word
from netdiag.linux.route import NextHop, Route

_BODY = struct.Struct("=BBBBBBBBI")
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
_EXTRAS = frozenset((_PREF, _ENCAP_TYPE, _EXPIRES, _NEXTHOP_ID))
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
_METRIC_NAMES: Fields = {
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
    return request(MessageType.GET_ROUTE, _BODY.pack(0, 0, 0, 0, 0, 0, 0, 0, 0))


def decode_route(payload: memoryview | bytes) -> Route | None:
    """One route of a NEW_ROUTE message; None for another family than IPv4 and IPv6."""
    data = bytes(payload)
    if len(data) < _BODY.size:
        raise Malformed(f"a route of {len(data)} bytes")
    family, length, from_length, tos, table, protocol, scope, kind, flags = _BODY.unpack_from(data)
    if family not in (_IPV4, _IPV6):
        return None
    found = attributes(data, _BODY.size)
    get = found.get
    wide, priority, source, metrics = get(_TABLE), get(_PRIORITY), get(_PREFSRC), get(_METRICS)
    origin = get(_SOURCE)
    return Route(
        family=4 if family == _IPV4 else 6,
        destination=_prefix(get(_DESTINATION), length, family),
        table=number(wide) if wide is not None else table,
        type=_TYPES[kind] if kind < len(_TYPES) else f"TYPE({kind})",
        scope=scope,
        protocol=protocol,
        priority=number(priority) if priority is not None else 0,
        source=ip_address(source) if source is not None else "",
        from_prefix=_prefix(origin, from_length, family) if origin is not None or from_length else "",
        tos=tos,
        hops=_hops(found, flags),
        metrics=_metrics(metrics) if metrics is not None else {},
        flags=flags,
        details={} if _EXTRAS.isdisjoint(found) else _details(found),
    )


def _prefix(data: bytes | None, length: int, family: int) -> str:
    if data is not None:
        return f"{ip_address(data)}/{length}"
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
    return read_fields(attributes(data), _METRIC_NAMES, where="RTAX", undecoded={})


def _details(found: dict[int, bytes]) -> dict[str, Detail]:
    extras = {key: found[key] for key in _EXTRAS if key in found}
    return read_fields(extras, _DETAILS, where="RTA", undecoded={})
