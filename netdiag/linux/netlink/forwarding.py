"""RTM_GETNEIGH of AF_BRIDGE: which hardware address is behind which port (linux/neighbour.h, bridge(8))."""

import struct
from functools import lru_cache

from netdiag.linux.link import Detail
from netdiag.linux.neighbour import FdbEntry
from netdiag.linux.netlink.attributes import Malformed, attributes
from netdiag.linux.netlink.messages import MessageType, request
from netdiag.linux.netlink.readers import (
    Fields,
    hardware_address,
    ip_address,
    network_number,
    number,
    read_fields,
    signed,
)

_BODY = struct.Struct("=BxHiHBB")
_AF_BRIDGE = 7
_DESTINATION, _LLADDR, _VLAN, _MASTER, _FLAGS_EXT = 1, 2, 5, 9, 15
# NUD_*, the first that is set names the state
_STATES = ((0x80, "permanent"), (0x40, "static"), (0x04, "stale"), (0x02, ""))
_FLAGS = (
    (0x02, "self"),
    (0x80, "router"),
    (0x10, "extern_learn"),
    (0x20, "offload"),
    (0x04, "master"),
    (0x40, "sticky"),
)
_LOCKED = 0x2
_DETAILS: Fields = {
    6: ("port", network_number),
    7: ("vni", number),
    8: ("via", number),
    10: ("link_netnsid", signed),
    11: ("src_vni", number),
    13: ("nhid", number),
}
_EXTRAS = frozenset(_DETAILS)


def request_forwarding() -> bytes:
    """The forwarding entries of all bridges, vxlans and other devices that keep some."""
    return request(MessageType.GET_NEIGHBOUR, _BODY.pack(_AF_BRIDGE, 0, 0, 0, 0, 0))


def decode_forwarding(payload: memoryview | bytes) -> FdbEntry | None:
    """One entry of a NEW_NEIGHBOUR message; None for another family than AF_BRIDGE.

    `via` in the details is the device by index through which the destination is reached, in the namespace
    `link_netnsid` where that is another one.
    """
    data = bytes(payload)
    if len(data) < _BODY.size:
        raise Malformed(f"a forwarding entry of {len(data)} bytes")
    family, _, ifindex, state, flags, _ = _BODY.unpack_from(data)
    if family != _AF_BRIDGE:
        return None
    found = attributes(data, _BODY.size)
    get = found.get
    master, vlan, destination, more = get(_MASTER), get(_VLAN), get(_DESTINATION), get(_FLAGS_EXT)
    words = _words(flags)
    if more is not None and number(more) & _LOCKED:
        words = (*words, "locked")
    return FdbEntry(
        ifindex=ifindex,
        lladdr=hardware_address(get(_LLADDR, b"")),
        master=(number(master) or None) if master is not None else None,
        vlan=(number(vlan) or None) if vlan is not None else None,
        destination=ip_address(destination) if destination is not None else "",
        state=_state(state),
        flags=words,
        details=_details(found),
    )


@lru_cache(maxsize=256)
def _words(flags: int) -> tuple[str, ...]:
    return tuple(name for bit, name in _FLAGS if flags & bit)


@lru_cache(maxsize=256)
def _state(bits: int) -> str:
    return next((name for bit, name in _STATES if bits & bit), f"{bits:#x}")


def _details(found: dict[int, bytes]) -> dict[str, Detail]:
    if _EXTRAS.isdisjoint(found):
        return {}
    extras = {key: found[key] for key in _EXTRAS if key in found}
    return read_fields(extras, _DETAILS, where="NDA", undecoded={})
