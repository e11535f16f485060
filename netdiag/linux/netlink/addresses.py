"""Addresses, neighbours and bridge forwarding entries (rtnetlink(7), linux/if_addr.h, linux/neighbour.h, bridge(8))."""

import struct
from functools import lru_cache

from netdiag.linux.netlink.messages import (
    Fields,
    Malformed,
    MessageType,
    attributes,
    hardware_address,
    ip_address,
    network_number,
    number,
    read_fields,
    request,
    signed,
    text,
)
from netdiag.linux.rtnetlink import Detail, FdbEntry, InterfaceAddress, Neighbour

_IFADDRMSG = struct.Struct("=BBBBI")
_IPV4, _IPV6 = 2, 10
_ADDRESS, _LOCAL, _LABEL, _BROADCAST, _FLAGS = 1, 2, 3, 4, 8


def request_addresses() -> bytes:
    """All addresses of both families."""
    return request(MessageType.GET_ADDRESS, _IFADDRMSG.pack(0, 0, 0, 0, 0))


def decode_address(payload: memoryview | bytes) -> InterfaceAddress | None:
    """One address of a NEW_ADDRESS message; None for another family than IPv4 and IPv6."""
    data = bytes(payload)
    if len(data) < _IFADDRMSG.size:
        raise Malformed(f"an address of {len(data)} bytes")
    family, prefix_length, flags, scope, ifindex = _IFADDRMSG.unpack_from(data)
    if family not in (_IPV4, _IPV6):
        return None
    get = attributes(data, _IFADDRMSG.size).get
    # IFA_ADDRESS is the other end where there is one; IFA_LOCAL, which IPv6 leaves out without one, is this end.
    other, own, broadcast, wide = get(_ADDRESS), get(_LOCAL), get(_BROADCAST), get(_FLAGS)
    if own is None:
        own, other = other, None
    if own is None:
        raise Malformed("an address without an address")
    return InterfaceAddress(
        ifindex=ifindex,
        address=ip_address(own),
        prefix_length=prefix_length,
        scope=scope,
        peer=ip_address(other) if other is not None and other != own else "",
        broadcast=ip_address(broadcast) if broadcast is not None else "",
        label=text(get(_LABEL, b"")),
        flags=number(wide) if wide is not None else flags,
    )


_NDMSG = struct.Struct("=BxHiHBB")
_DESTINATION, _LLADDR, _VLAN, _MASTER, _FLAGS_EXT = 1, 2, 5, 9, 15
_PROXY, _ROUTER = 0x08, 0x80
_NEIGHBOUR_STATES = ("INCOMPLETE", "REACHABLE", "STALE", "DELAY", "PROBE", "FAILED", "NOARP", "PERMANENT")


def request_neighbours() -> bytes:
    """All neighbours of both families; the proxied ones are a table of their own."""
    return request(MessageType.GET_NEIGHBOUR, _NDMSG.pack(0, 0, 0, 0, 0, 0))


def request_proxy_neighbours() -> bytes:
    """The addresses that a namespace answers for in place of others."""
    return request(MessageType.GET_NEIGHBOUR, _NDMSG.pack(0, 0, 0, 0, _PROXY, 0))


def decode_neighbour(payload: memoryview | bytes) -> Neighbour | None:
    """One neighbour of a NEW_NEIGHBOUR message; None for another family than IPv4 and IPv6."""
    data = bytes(payload)
    if len(data) < _NDMSG.size:
        raise Malformed(f"a neighbour of {len(data)} bytes")
    family, _, ifindex, states, flags, _ = _NDMSG.unpack_from(data)
    if family not in (_IPV4, _IPV6):
        return None
    get = attributes(data, _NDMSG.size).get
    return Neighbour(
        ifindex=ifindex,
        address=ip_address(get(_DESTINATION, b"")),
        lladdr=_hardware(get(_LLADDR, b"")),
        states=_state_words(states),
        router=bool(flags & _ROUTER),
        proxy=bool(flags & _PROXY),
    )


@lru_cache(maxsize=256)
def _state_words(states: int) -> tuple[str, ...]:
    return tuple(name for bit, name in enumerate(_NEIGHBOUR_STATES) if states >> bit & 1)


def _hardware(data: bytes) -> str:
    """Tunnels over IP have IP addresses as hardware addresses; no other hardware address has any of these lengths."""
    return ip_address(data) if len(data) in (4, 16) else hardware_address(data)


_AF_BRIDGE = 7
# NUD_*, the first that is set names the state
_FDB_STATES = ((0x80, "permanent"), (0x40, "static"), (0x04, "stale"), (0x02, ""))
_FDB_FLAGS = (
    (0x02, "self"),
    (0x80, "router"),
    (0x10, "extern_learn"),
    (0x20, "offload"),
    (0x04, "master"),
    (0x40, "sticky"),
)
_LOCKED = 0x2
_FDB_DETAILS: Fields = {
    6: ("port", network_number),
    7: ("vni", number),
    8: ("via", number),
    10: ("link_netnsid", signed),
    11: ("src_vni", number),
    13: ("nhid", number),
}
_DETAIL_ATTRIBUTES = frozenset(_FDB_DETAILS)


def request_fdb() -> bytes:
    """The forwarding entries of all bridges, vxlans and other links that keep some."""
    return request(MessageType.GET_NEIGHBOUR, _NDMSG.pack(_AF_BRIDGE, 0, 0, 0, 0, 0))


def decode_fdb_entry(payload: memoryview | bytes) -> FdbEntry | None:
    """One entry of a NEW_NEIGHBOUR message; None for another family than AF_BRIDGE.

    `via` in the details is the link by index through which the destination is reached, in the namespace
    `link_netnsid` where that is another one.
    """
    data = bytes(payload)
    if len(data) < _NDMSG.size:
        raise Malformed(f"a forwarding entry of {len(data)} bytes")
    family, _, ifindex, state, flags, _ = _NDMSG.unpack_from(data)
    if family != _AF_BRIDGE:
        return None
    found = attributes(data, _NDMSG.size)
    get = found.get
    master, vlan, destination, more = get(_MASTER), get(_VLAN), get(_DESTINATION), get(_FLAGS_EXT)
    words = _flag_words(flags)
    if more is not None and number(more) & _LOCKED:
        words = (*words, "locked")
    return FdbEntry(
        ifindex=ifindex,
        lladdr=hardware_address(get(_LLADDR, b"")),
        master=(number(master) or None) if master is not None else None,
        vlan=(number(vlan) or None) if vlan is not None else None,
        destination=ip_address(destination) if destination is not None else "",
        state=_fdb_state(state),
        flags=words,
        details=_fdb_details(found),
    )


@lru_cache(maxsize=256)
def _flag_words(flags: int) -> tuple[str, ...]:
    return tuple(name for bit, name in _FDB_FLAGS if flags & bit)


@lru_cache(maxsize=256)
def _fdb_state(bits: int) -> str:
    return next((name for bit, name in _FDB_STATES if bits & bit), f"{bits:#x}")


def _fdb_details(found: dict[int, bytes]) -> dict[str, Detail]:
    if _DETAIL_ATTRIBUTES.isdisjoint(found):
        return {}
    extras = {key: found[key] for key in _DETAIL_ATTRIBUTES if key in found}
    return read_fields(extras, _FDB_DETAILS, where="NDA", undecoded={})
