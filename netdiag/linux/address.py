"""The addresses and links of a network namespace, as rtnetlink dumps give them (rtnetlink(7), linux/if_link.h).

`dump_request` is what to send on a NETLINK_ROUTE socket, `parse_addresses` and `parse_links` read what comes back.
"""

import ipaddress
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

RTM_GETLINK, RTM_NEWLINK = 18, 16
RTM_GETADDR, RTM_NEWADDR = 22, 20
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_NLM_F_REQUEST, _NLM_F_DUMP = 0x1, 0x300
_IFF_UP, _IFF_LOOPBACK = 0x1, 0x8
_IFLA_IFNAME, _IFLA_LINKINFO, _IFLA_INFO_KIND = 3, 18, 1
_IFA_ADDRESS, _IFA_LOCAL = 1, 2
_HEADER = struct.Struct("=IHHII")
_IFINFO = struct.Struct("=BxHiII")
_IFADDR = struct.Struct("=BBBBI")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A network device; `kind` is what rtnetlink calls it ("veth", "bridge"), empty for hardware and loopback."""

    ifindex: int
    ifname: str
    kind: str
    up: bool
    loopback: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceAddress:
    """An address with its prefix length on a device; `scope` 0 is global, 253 link, 254 host."""

    ifindex: int
    address: str
    prefix_length: int
    scope: int


def dump_request(kind: int) -> bytes:
    """The request for all links or all addresses."""
    body = _IFINFO.pack(0, 0, 0, 0, 0) if kind == RTM_GETLINK else _IFADDR.pack(0, 0, 0, 0, 0)
    return _HEADER.pack(_HEADER.size + len(body), kind, _NLM_F_REQUEST | _NLM_F_DUMP, 1, 0) + body


def dump_ended(datagram: bytes) -> bool:
    """Whether this datagram ends the dump, well or with an error."""
    return any(kind in (_NLMSG_DONE, _NLMSG_ERROR) for kind, _ in _messages(datagram))


def parse_links(datagrams: Iterable[bytes]) -> tuple[Link, ...]:
    """The links of a dump."""
    return tuple(_link(body) for d in datagrams for kind, body in _messages(d) if kind == RTM_NEWLINK)


def parse_addresses(datagrams: Iterable[bytes]) -> tuple[InterfaceAddress, ...]:
    """The addresses of a dump."""
    found = (_address(body) for d in datagrams for kind, body in _messages(d) if kind == RTM_NEWADDR)
    return tuple(address for address in found if address is not None)


def outside_addresses(
    links: Iterable[Link], addresses: Iterable[InterfaceAddress], *, bridges: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """The addresses by which other machines may know this one, IPv4 first.

    Left out: loopback and link-local addresses, devices that are down, and `bridges`, whose addresses are the
    gateways of container networks.
    """
    usable = {link.ifindex for link in links if link.up and not link.loopback and link.ifname not in bridges}
    found = [ipaddress.ip_address(a.address) for a in addresses if a.ifindex in usable]
    outside = [a for a in dict.fromkeys(found) if not a.is_loopback and not a.is_link_local]
    return tuple(str(a) for a in sorted(outside, key=lambda a: a.version))


def _messages(datagram: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position + _HEADER.size <= len(datagram):
        length, kind, _, _, _ = _HEADER.unpack_from(datagram, position)
        if length < _HEADER.size or position + length > len(datagram):
            return
        yield kind, datagram[position + _HEADER.size : position + length]
        position += (length + 3) & ~3


def _attributes(data: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    position = 0
    while position + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, position)
        if length < 4 or position + length > len(data):
            break
        found[kind & 0x3FFF] = data[position + 4 : position + length]
        position += (length + 3) & ~3
    return found


def _link(body: bytes) -> Link:
    _, _, ifindex, flags, _ = _IFINFO.unpack_from(body)
    attributes = _attributes(body[_IFINFO.size :])
    info = _attributes(attributes.get(_IFLA_LINKINFO, b""))
    return Link(
        ifindex=ifindex,
        ifname=_text(attributes.get(_IFLA_IFNAME, b"")),
        kind=_text(info.get(_IFLA_INFO_KIND, b"")),
        up=bool(flags & _IFF_UP),
        loopback=bool(flags & _IFF_LOOPBACK),
    )


def _address(body: bytes) -> InterfaceAddress | None:
    _, prefix_length, _, scope, ifindex = _IFADDR.unpack_from(body)
    attributes = _attributes(body[_IFADDR.size :])
    # On a point-to-point link IFA_ADDRESS is the other end; IFA_LOCAL is always ours.
    raw = attributes.get(_IFA_LOCAL) or attributes.get(_IFA_ADDRESS)
    if raw is None or len(raw) not in (4, 16):
        return None
    address = str(ipaddress.ip_address(raw))
    return InterfaceAddress(ifindex=ifindex, address=address, prefix_length=prefix_length, scope=scope)


def _text(raw: bytes) -> str:
    return raw.rstrip(b"\0").decode(errors="replace")
