"""RTM_GETRULE: which routing table is asked when (linux/fib_rules.h)."""

import struct

from netdiag.linux.link import Detail
from netdiag.linux.netlink.attributes import Malformed, attributes
from netdiag.linux.netlink.messages import MessageType, request
from netdiag.linux.netlink.readers import (
    Fields,
    hexadecimal,
    ip_address,
    network_number,
    number,
    read_fields,
    text,
    word,
)
from netdiag.linux.route import RoutingRule

_BODY = struct.Struct("=BBBBBBBBI")
_IPV4, _IPV6 = 2, 10
_TO, _FROM, _PRIORITY, _TABLE = 1, 2, 6, 15
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


def _source_ports(data: bytes) -> Detail:
    return _ports("sport", data)


def _destination_ports(data: bytes) -> Detail:
    return _ports("dport", data)


def _suppressed_length(data: bytes) -> Detail:
    return {"suppress_prefixlen": number(data)} if number(data) != _UNSET else {}


def _suppressed_group(data: bytes) -> Detail:
    return {"suppress_ifgroup": number(data)} if number(data) != _UNSET else {}


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
    13: (None, _suppressed_group),
    14: (None, _suppressed_length),
    16: (None, _mask),
    17: ("oif", text),
    19: (None, _l3mdev),
    20: (None, _users),
    21: ("protocol", number),
    22: ("ipproto", word(_PROTOCOLS)),
    23: (None, _source_ports),
    24: (None, _destination_ports),
    25: ("dscp", number),
    26: ("flowlabel", network_number),
    27: ("flowlabel_mask", network_number),
    28: ("sport_mask", hexadecimal),
    29: ("dport_mask", hexadecimal),
    30: ("dscp_mask", hexadecimal),
}
_OWN_FIELDS = frozenset((_TO, _FROM, _PRIORITY, _TABLE, 18))


def request_rules() -> bytes:
    """All rules of both families; those of multicast routing may come along."""
    return request(MessageType.GET_RULE, _BODY.pack(0, 0, 0, 0, 0, 0, 0, 0, 0))


def decode_rule(payload: memoryview | bytes) -> RoutingRule | None:
    """One rule of a NEW_RULE message; None for another family than IPv4 and IPv6.

    `protocol` in the details is who made the rule, a number (2 is the kernel). Conditions that are not known here are
    in the details as "FRA/number" with hexadecimal digits: such a rule cannot be evaluated.
    """
    data = bytes(payload)
    if len(data) < _BODY.size:
        raise Malformed(f"a rule of {len(data)} bytes")
    family, to_length, from_length, tos, table, _, _, action, flags = _BODY.unpack_from(data)
    if family not in (_IPV4, _IPV6):
        return None
    found = attributes(data, _BODY.size)
    get = found.get
    wide, priority = get(_TABLE), get(_PRIORITY)
    return RoutingRule(
        family=4 if family == _IPV4 else 6,
        priority=number(priority) if priority is not None else 0,
        action=_ACTIONS.get(action) or f"ACTION({action})",
        table=number(wide) if wide is not None else table,
        from_prefix=_prefix(get(_FROM), from_length, family),
        to_prefix=_prefix(get(_TO), to_length, family),
        details=_details(found, tos, flags),
    )


def _prefix(data: bytes | None, length: int, family: int) -> str:
    if data is not None:
        return f"{ip_address(data)}/{length}"
    if not length:
        return ""
    return f"0.0.0.0/{length}" if family == _IPV4 else f"::/{length}"


def _details(found: dict[int, bytes], tos: int, flags: int) -> dict[str, Detail]:
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
