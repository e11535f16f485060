"""RTM_GETNEIGH: what ARP and neighbour discovery know (rtnetlink(7), linux/neighbour.h)."""

import struct
from functools import lru_cache

from netdiag.linux.neighbour import Neighbour
from netdiag.linux.netlink.attributes import Malformed, attributes
from netdiag.linux.netlink.messages import MessageType, request
from netdiag.linux.netlink.readers import hardware_address, ip_address

_BODY = struct.Struct("=BxHiHBB")
_IPV4, _IPV6 = 2, 10
_DESTINATION, _LLADDR = 1, 2
_PROXY, _ROUTER = 0x08, 0x80
_STATES = ("INCOMPLETE", "REACHABLE", "STALE", "DELAY", "PROBE", "FAILED", "NOARP", "PERMANENT")


def request_neighbours() -> bytes:
    """All neighbours of both families; the proxied ones are a table of their own."""
    return request(MessageType.GET_NEIGHBOUR, _BODY.pack(0, 0, 0, 0, 0, 0))


def request_proxy_neighbours() -> bytes:
    """The addresses that are answered for in the place of others."""
    return request(MessageType.GET_NEIGHBOUR, _BODY.pack(0, 0, 0, 0, _PROXY, 0))


def decode_neighbour(payload: memoryview | bytes) -> Neighbour | None:
    """One neighbour of a NEW_NEIGHBOUR message; None for another family than IPv4 and IPv6."""
    data = bytes(payload)
    if len(data) < _BODY.size:
        raise Malformed(f"a neighbour of {len(data)} bytes")
    family, _, ifindex, states, flags, _ = _BODY.unpack_from(data)
    if family not in (_IPV4, _IPV6):
        return None
    get = attributes(data, _BODY.size).get
    return Neighbour(
        ifindex=ifindex,
        address=ip_address(get(_DESTINATION, b"")),
        lladdr=_hardware(get(_LLADDR, b"")),
        states=_words(states),
        router=bool(flags & _ROUTER),
        proxy=bool(flags & _PROXY),
    )


@lru_cache(maxsize=256)
def _words(states: int) -> tuple[str, ...]:
    return tuple(name for bit, name in enumerate(_STATES) if states >> bit & 1)


def _hardware(data: bytes) -> str:
    """Tunnels over IP have IP addresses for hardware addresses; no other hardware has any of these lengths."""
    return ip_address(data) if len(data) in (4, 16) else hardware_address(data)
