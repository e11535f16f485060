"""RTM_GETLINK: the devices of a namespace (rtnetlink(7), linux/if_link.h).

What only counts or tunes (statistics, queues, segmentation limits, per-family settings) is known here and left out.
"""

import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from netdiag.linux.link import Detail, Link
from netdiag.linux.netlink.attributes import Malformed, attribute, attributes, each_attribute
from netdiag.linux.netlink.kinds import KINDS, PORTS
from netdiag.linux.netlink.messages import MessageType, request
from netdiag.linux.netlink.readers import hardware_address, ip_address, number, read_fields, signed, text

_BODY = struct.Struct("=BxHiII")
_NUMBER = struct.Struct("=I")
_SKIP_STATS, _COMPRESSED_VLANS = 8, 4

_ADDRESS, _BROADCAST, _IFNAME, _MTU, _LINK, _QDISC, _MASTER = 1, 2, 3, 4, 5, 6, 10
_TXQLEN, _OPERSTATE, _LINKINFO, _IFALIAS, _GROUP, _EXT_MASK, _LINK_NETNSID = 13, 16, 18, 20, 27, 29, 37
_PROP_LIST, _ALT_IFNAME = 52, 53
_KIND, _DATA, _PORT_KIND, _PORT_DATA = 1, 2, 4, 5
# Up to IFLA_TAILROOM (Linux 7.1) every number is known; IFLA_INFO_XSTATS are statistics of the kind.
_KNOWN = 69
_OPERSTATES = ("UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN", "TESTING", "DORMANT", "UP")
# ARPHRD_TUNNEL, TUNNEL6, SIT, IPGRE, IP6GRE (linux/if_arp.h): their hardware addresses are IP addresses.
_TUNNELS = frozenset((768, 769, 776, 778, 823))
# Kinds without ndo_get_iflink: their IFLA_LINK is their own index. A vxlan tells the device below among its details.
_VXLAN = "vxlan"
_NOTHING_BELOW = frozenset(("amt", "bareudp", "geneve", "gtp", "ovpn", "pfcp", "wireguard"))


class _Info(NamedTuple):
    """Shared by all devices that say the same: not to be changed."""

    kind: str
    details: Mapping[str, Detail]
    port_kind: str
    port: Mapping[str, Detail]
    undecoded: Mapping[str, str]


def request_links() -> bytes:
    """All devices, without the statistics of the address families."""
    mask = attribute(_EXT_MASK, _NUMBER.pack(_SKIP_STATS | _COMPRESSED_VLANS))
    return request(MessageType.GET_LINK, _BODY.pack(0, 0, 0, 0, 0), mask)


def decode_link(payload: memoryview | bytes) -> Link:
    """One device of a NEW_LINK message."""
    data = bytes(payload)
    if len(data) < _BODY.size:
        raise Malformed(f"a link of {len(data)} bytes")
    _, hardware, ifindex, flags, _ = _BODY.unpack_from(data)
    found = attributes(data, _BODY.size)
    get = found.get
    info = _linkinfo(get(_LINKINFO, b""))
    undecoded = {str(key): found[key][:64].hex() for key in found if key > _KNOWN}
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
    """Kind and details, port kind and details as a port, and what is not known; most devices say what others said."""
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

    Of a kind that never says one, the kernel gives the device's own index as soon as it was moved to another namespace.
    """
    if info.kind == _VXLAN:
        below = info.details.get("link")
        return below if isinstance(below, int) else None
    return None if link == ifindex and info.kind in _NOTHING_BELOW else link


def _altnames(data: bytes | None) -> tuple[str, ...]:
    if data is None:
        return ()
    return tuple(text(value) for key, value in each_attribute(data) if key == _ALT_IFNAME)
