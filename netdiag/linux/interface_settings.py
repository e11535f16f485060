"""Switches of single devices, which rtnetlink gives with the device: IFLA_AF_SPEC (linux/if_link.h, linux/ip.h).

Reading them here saves two files of /proc/sys for every device, each of which costs as much as the device itself.
"""

import struct

_ATTRIBUTE = struct.Struct("=HH")
_NUMBER = struct.Struct("=I")
_LINK_HEADER = 16
_NUMBER_OF_ATTRIBUTE = 0x3FFF
_IFLA_AF_SPEC, _AF_INET, _IFLA_INET_CONF = 26, 2, 1
# IPV4_DEVCONF_* counts from 1; the array of IFLA_INET_CONF begins with the first of them.
_RP_FILTER, _ROUTE_LOCALNET = 8, 26


def decode_switches(payload: memoryview | bytes) -> tuple[int, int] | None:
    """rp_filter and route_localnet of the device of a NEW_LINK message; None where it has no settings for IPv4."""
    conf = (_LINK_HEADER, len(payload))
    for number in (_IFLA_AF_SPEC, _AF_INET, _IFLA_INET_CONF):
        inner = _find(payload, *conf, number)
        if inner is None:
            return None
        conf = inner
    start, end = conf
    if end - start < 4 * _ROUTE_LOCALNET:
        return None
    rp_filter, route_localnet = (
        _NUMBER.unpack_from(payload, start + 4 * (number - 1))[0] for number in (_RP_FILTER, _ROUTE_LOCALNET)
    )
    return rp_filter, route_localnet


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
