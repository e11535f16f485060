"""Links with what belongs to them: settings, VLANs of bridge ports, numbers of other namespaces.

What only counts or tunes (statistics, queues, segmentation limits) is known here and left out. Sources: rtnetlink(7),
linux/if_link.h, linux/if_bridge.h, linux/net_namespace.h, linux/ip.h, linux/netconf.h.
"""

import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from netdiag.linux.netlink.link_kinds import KINDS, PORTS
from netdiag.linux.netlink.messages import (
    ATTRIBUTE_HEADER,
    ATTRIBUTE_TYPE,
    Malformed,
    MessageType,
    attribute,
    attributes,
    each_attribute,
    hardware_address,
    ip_address,
    number,
    read_fields,
    request,
    signed,
    text,
)
from netdiag.linux.rtnetlink import BridgeVlan, Detail, Link
from netdiag.values import dataclass

_IFINFOMSG = struct.Struct("=BxHiII")
_UINT32 = struct.Struct("=I")
_AF_INET, _AF_BRIDGE, _AF_INET6 = 2, 7, 10

# IFLA_*
_ADDRESS, _BROADCAST, _IFNAME, _MTU, _LINK, _QDISC, _MASTER = 1, 2, 3, 4, 5, 6, 10
_TXQLEN, _OPERSTATE, _LINKINFO, _IFALIAS, _AF_SPEC, _GROUP, _EXT_MASK, _LINK_NETNSID = 13, 16, 18, 20, 26, 27, 29, 37
_PROP_LIST, _ALT_IFNAME = 52, 53
_KIND, _DATA, _PORT_KIND, _PORT_DATA = 1, 2, 4, 5
# Up to IFLA_TAILROOM (Linux 7.1) every number is known; IFLA_INFO_XSTATS are statistics of the kind.
_LAST_KNOWN = 69
# RTEXT_FILTER_*
_COMPRESSED_VLANS, _SKIP_STATS = 4, 8
_OPERSTATES = ("UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN", "TESTING", "DORMANT", "UP")
# ARPHRD_TUNNEL, TUNNEL6, SIT, IPGRE, IP6GRE (linux/if_arp.h): their hardware addresses are IP addresses.
_TUNNELS = frozenset((768, 769, 776, 778, 823))
# Kinds without ndo_get_iflink: their IFLA_LINK is their own index. A vxlan has the device below among its details.
_VXLAN = "vxlan"
_NOTHING_BELOW = frozenset(("amt", "bareudp", "geneve", "gtp", "ovpn", "pfcp", "wireguard"))

_INET_CONF, _INET6_CONF = 1, 2
# IPV4_DEVCONF_* counts from 1; the array of IFLA_INET_CONF begins with the first of them. DEVCONF_* counts from 0.
_RP_FILTER, _ROUTE_LOCALNET, _DISABLE_IPV6 = 8, 26, 26
_NETCONF_HEADER, _NETCONFA_IFINDEX, _NETCONFA_FORWARDING, _NETCONFA_RP_FILTER = 4, 1, 2, 3
_IFINDEX_ALL = struct.pack("=i", -1)

_VLAN_INFO, _VLAN = 2, struct.Struct("=HH")
_VLAN_RANGE_BEGIN, _VLAN_RANGE_END = 0x8, 0x10
_VLAN_FLAGS = ((0x2, "PVID"), (0x4, "Egress Untagged"))

# struct rtgenmsg is one byte, padded.
_RTGENMSG = b"\0\0\0\0"
_NSID, _DESCRIPTOR = 1, 3
UNASSIGNED = -1


class _Info(NamedTuple):
    """Shared by all links with the same IFLA_LINKINFO: not to be changed."""

    kind: str
    details: Mapping[str, Detail]
    port_kind: str
    port: Mapping[str, Detail]
    undecoded: Mapping[str, str]


def request_links() -> bytes:
    """All links, without the statistics of the address families."""
    mask = attribute(_EXT_MASK, _UINT32.pack(_SKIP_STATS | _COMPRESSED_VLANS))
    return request(MessageType.GET_LINK, _IFINFOMSG.pack(0, 0, 0, 0, 0), mask)


def decode_link(payload: memoryview | bytes) -> Link:
    """The link of a NEW_LINK message."""
    data = bytes(payload)
    if len(data) < _IFINFOMSG.size:
        raise Malformed(f"a link of {len(data)} bytes")
    _, hardware, ifindex, flags, _ = _IFINFOMSG.unpack_from(data)
    found = attributes(data, _IFINFOMSG.size)
    get = found.get
    info = _linkinfo(get(_LINKINFO, b""))
    undecoded = {str(key): found[key][:64].hex() for key in found if key > _LAST_KNOWN}
    return Link(
        ifindex=ifindex,
        ifname=text(get(_IFNAME, b"")),
        kind=info.kind,
        type=hardware,
        flags=flags,
        mtu=number(found[_MTU]) if _MTU in found else 0,
        address=_hardware(get(_ADDRESS), hardware),
        broadcast=_hardware(get(_BROADCAST), hardware),
        operstate=_operstate(get(_OPERSTATE)),
        master=_index(get(_MASTER)),
        link=_lower(_index(get(_LINK)), ifindex, info),
        link_netnsid=signed(found[_LINK_NETNSID]) if _LINK_NETNSID in found else None,
        altnames=_altnames(get(_PROP_LIST)),
        alias=text(get(_IFALIAS, b"")),
        qdisc=text(get(_QDISC, b"")),
        txqlen=number(found[_TXQLEN]) if _TXQLEN in found else 0,
        group=number(found[_GROUP]) if _GROUP in found else 0,
        details=info.details,
        port_kind=info.port_kind,
        port=info.port,
        undecoded={**undecoded, **info.undecoded},
    )


@lru_cache(maxsize=1024)
def _linkinfo(data: bytes) -> _Info:
    """Kind and details, port kind and details as a port, and what is not known; the same for most links of a kind."""
    found = attributes(data)
    kind, port_kind = text(found.get(_KIND, b"")), text(found.get(_PORT_KIND, b""))
    details: dict[str, Detail] = {}
    port: dict[str, Detail] = {}
    undecoded: dict[str, str] = {}
    if _DATA in found:
        details = read_fields(attributes(found[_DATA]), KINDS.get(kind, {}), where="info_data", undecoded=undecoded)
    if _PORT_DATA in found:
        fields = PORTS.get(port_kind, {})
        port = read_fields(attributes(found[_PORT_DATA]), fields, where="info_slave_data", undecoded=undecoded)
    return _Info(kind, details, port_kind, port, undecoded)


def _hardware(data: bytes | None, hardware: int) -> str:
    if not data:
        return ""
    return ip_address(data) if hardware in _TUNNELS and len(data) in (4, 16) else hardware_address(data)


def _operstate(data: bytes | None) -> str:
    if data is None:
        return "UNKNOWN"
    value = number(data)
    return _OPERSTATES[value] if value < len(_OPERSTATES) else f"OPERSTATE({value})"


def _index(data: bytes | None) -> int | None:
    """An ifindex; 0 is none."""
    return (number(data) or None) if data is not None else None


def _lower(link: int | None, ifindex: int, info: _Info) -> int | None:
    """The peer or the device below.

    For a kind that has neither, the kernel gives the link's own index once it was moved to another namespace.
    """
    if info.kind == _VXLAN:
        below = info.details.get("link")
        return below if isinstance(below, int) else None
    return None if link == ifindex and info.kind in _NOTHING_BELOW else link


def _altnames(data: bytes | None) -> tuple[str, ...]:
    if data is None:
        return ()
    return tuple(text(value) for key, value in each_attribute(data) if key == _ALT_IFNAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSettings:
    """The sysctls of one link; None without settings for IPv4, or for IPv6."""

    rp_filter: int | None = None
    route_localnet: int | None = None
    ipv6_disabled: bool | None = None


def decode_link_settings(payload: memoryview | bytes) -> LinkSettings:
    """The settings of the link of a NEW_LINK message, which need not be read from /proc/sys then."""
    families = _find_attribute(payload, _IFINFOMSG.size, len(payload), _AF_SPEC)
    if families is None:
        return LinkSettings()
    ipv4 = _find_array(payload, families, _AF_INET, _INET_CONF)
    disabled = _array_number(payload, _find_array(payload, families, _AF_INET6, _INET6_CONF), _DISABLE_IPV6)
    return LinkSettings(
        rp_filter=_array_number(payload, ipv4, _RP_FILTER - 1),
        route_localnet=_array_number(payload, ipv4, _ROUTE_LOCALNET - 1),
        ipv6_disabled=None if disabled is None else disabled != 0,
    )


def request_netconf(family: int) -> bytes:
    """The settings "all" of family 4 or 6."""
    header = bytes((_AF_INET if family == 4 else _AF_INET6, 0, 0, 0))
    return request(MessageType.GET_NETCONF, header, attribute(_NETCONFA_IFINDEX, _IFINDEX_ALL), flags=0)


def decode_netconf(payload: memoryview | bytes) -> tuple[int | None, int | None]:
    """forwarding and rp_filter of the answer; None where it has none."""
    return _netconf_number(payload, _NETCONFA_FORWARDING), _netconf_number(payload, _NETCONFA_RP_FILTER)


def _netconf_number(payload: memoryview | bytes, number: int) -> int | None:
    found = _find_attribute(payload, _NETCONF_HEADER, len(payload), number)
    return _UINT32.unpack_from(payload, found[0])[0] if found is not None and found[1] - found[0] == 4 else None


def _find_array(data: memoryview | bytes, families: tuple[int, int], family: int, conf: int) -> tuple[int, int] | None:
    inner = _find_attribute(data, *families, family)
    return None if inner is None else _find_attribute(data, *inner, conf)


def _array_number(data: memoryview | bytes, array: tuple[int, int] | None, place: int) -> int | None:
    """The number at that place, counted from 0."""
    if array is None or array[0] + 4 * place + 4 > array[1]:
        return None
    return int(_UINT32.unpack_from(data, array[0] + 4 * place)[0])


def _find_attribute(data: memoryview | bytes, start: int, end: int, number: int) -> tuple[int, int] | None:
    """Where the value of an attribute begins and ends, without a copy of all others."""
    while start + 4 <= end:
        length, kind = ATTRIBUTE_HEADER.unpack_from(data, start)
        if length < 4 or start + length > end:
            return None
        if kind & ATTRIBUTE_TYPE == number:
            return start + 4, start + length
        start += (length + 3) & ~3
    return None


def request_bridge_vlans() -> bytes:
    """The VLANs of all bridges and ports, neighbouring ones as ranges.

    A kernel without VLAN filtering, and a namespace without a bridge, may refuse this with EOPNOTSUPP.
    """
    mask = attribute(_EXT_MASK, _UINT32.pack(_COMPRESSED_VLANS))
    return request(MessageType.GET_LINK, _IFINFOMSG.pack(_AF_BRIDGE, 0, 0, 0, 0), mask)


def decode_bridge_vlans(payload: memoryview | bytes) -> tuple[BridgeVlan, ...]:
    """The VLANs of the link of a NEW_LINK message; none for another family than AF_BRIDGE."""
    data = bytes(payload)
    if len(data) < _IFINFOMSG.size:
        raise Malformed(f"a link of {len(data)} bytes")
    family, _, ifindex, _, _ = _IFINFOMSG.unpack_from(data)
    settings = attributes(data, _IFINFOMSG.size).get(_AF_SPEC)
    if family != _AF_BRIDGE or settings is None:
        return ()
    found = []
    begin: int | None = None
    for key, value in each_attribute(settings):
        if key != _VLAN_INFO:
            continue
        if len(value) != _VLAN.size:
            raise Malformed(f"a VLAN of {len(value)} bytes")
        flags, vlan = _VLAN.unpack(value)
        if flags & _VLAN_RANGE_BEGIN:
            begin = vlan
            continue
        first = begin if begin is not None and flags & _VLAN_RANGE_END else vlan
        begin = None
        words = tuple(name for bit, name in _VLAN_FLAGS if flags & bit)
        found.append(BridgeVlan(ifindex=ifindex, vlan=first, vlan_end=vlan, flags=words))
    if begin is not None:
        raise Malformed(f"a range of VLANs from {begin} without an end")
    return tuple(found)


def request_nsid(descriptor: int) -> bytes:
    """The number that the namespace open as `descriptor` has here. Asking assigns none."""
    return request(MessageType.GET_NSID, _RTGENMSG, attribute(_DESCRIPTOR, _UINT32.pack(descriptor)), flags=0)


def decode_nsid(payload: memoryview | bytes) -> int:
    """The number of a NEW_NSID message; UNASSIGNED where there is none."""
    data = bytes(payload)
    if len(data) < len(_RTGENMSG):
        raise Malformed(f"a namespace number of {len(data)} bytes")
    found = attributes(data, len(_RTGENMSG))
    return signed(found[_NSID]) if _NSID in found else UNASSIGNED
