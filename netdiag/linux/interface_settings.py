"""Switches of a namespace and its devices that rtnetlink tells (linux/if_link.h, linux/ip.h, linux/netconf.h).

Those of a device come with the device (IFLA_AF_SPEC), those of all together by RTM_GETNETCONF. What is read here need
not be read from /proc/sys, where a file costs as much as a whole table of routes.
"""

import struct
from dataclasses import dataclass

_ATTRIBUTE = struct.Struct("=HH")
_NUMBER = struct.Struct("=I")
_HEADER = struct.Struct("=IHHII")
_LINK_HEADER, _NETCONF_HEADER = 16, 4
_NUMBER_OF_ATTRIBUTE = 0x3FFF
_IFLA_AF_SPEC, _AF_INET, _AF_INET6, _IFLA_INET_CONF = 26, 2, 10, 1
# IPV4_DEVCONF_* counts from 1; the array of IFLA_INET_CONF begins with the first of them.
_RP_FILTER, _ROUTE_LOCALNET = 8, 26
# DEVCONF_* of linux/ipv6.h counts from 0
_IFLA_INET6_CONF, _DISABLE_IPV6 = 2, 26
_GET_NETCONF, _NETCONFA_IFINDEX, _NETCONFA_FORWARDING, _NETCONFA_RP_FILTER = 82, 1, 2, 3
_ALL = struct.pack("=i", -1)
_FAMILIES = {4: _AF_INET, 6: _AF_INET6}


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """Those of one device; None without settings for IPv4, or for IPv6."""

    rp_filter: int | None = None
    route_localnet: int | None = None
    ipv6_disabled: bool | None = None


def decode_switches(payload: memoryview | bytes) -> Switches:
    """The switches of the device of a NEW_LINK message."""
    families = _find(payload, _LINK_HEADER, len(payload), _IFLA_AF_SPEC)
    if families is None:
        return Switches()
    ipv4 = _array(payload, families, _AF_INET, _IFLA_INET_CONF)
    disabled = _at(payload, _array(payload, families, _AF_INET6, _IFLA_INET6_CONF), _DISABLE_IPV6)
    return Switches(
        rp_filter=_at(payload, ipv4, _RP_FILTER - 1),
        route_localnet=_at(payload, ipv4, _ROUTE_LOCALNET - 1),
        ipv6_disabled=None if disabled is None else disabled != 0,
    )


def request_shared_switches(family: int) -> bytes:
    """Asks for the switches "all" of family 4 or 6."""
    body = struct.pack("=B3x", _FAMILIES[family]) + _ATTRIBUTE.pack(8, _NETCONFA_IFINDEX) + _ALL
    return _HEADER.pack(_HEADER.size + len(body), _GET_NETCONF, 0, 0, 0) + body


def decode_shared_switches(payload: memoryview | bytes) -> tuple[int | None, int | None]:
    """forwarding and rp_filter of the answer; None for what it does not tell."""
    return _value(payload, _NETCONFA_FORWARDING), _value(payload, _NETCONFA_RP_FILTER)


def _value(payload: memoryview | bytes, number: int) -> int | None:
    found = _find(payload, _NETCONF_HEADER, len(payload), number)
    return _NUMBER.unpack_from(payload, found[0])[0] if found is not None and found[1] - found[0] == 4 else None


def _array(data: memoryview | bytes, families: tuple[int, int], family: int, conf: int) -> tuple[int, int] | None:
    inner = _find(data, *families, family)
    return None if inner is None else _find(data, *inner, conf)


def _at(data: memoryview | bytes, array: tuple[int, int] | None, place: int) -> int | None:
    """The number at that place, counted from 0."""
    if array is None or array[0] + 4 * place + 4 > array[1]:
        return None
    return int(_NUMBER.unpack_from(data, array[0] + 4 * place)[0])


def _find(data: memoryview | bytes, start: int, end: int, number: int) -> tuple[int, int] | None:
    """Where the value of that attribute begins and ends."""
    unpack = _ATTRIBUTE.unpack_from
    while start + 4 <= end:
        length, kind = unpack(data, start)
        if length < 4 or start + length > end:
            return None
        if kind & _NUMBER_OF_ATTRIBUTE == number:
            return start + 4, start + length
        start += (length + 3) & ~3
    return None
