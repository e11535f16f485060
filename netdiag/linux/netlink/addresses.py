"""RTM_GETADDR: the IP addresses of a namespace (rtnetlink(7), linux/if_addr.h)."""

import struct

from netdiag.linux.address import InterfaceAddress
from netdiag.linux.netlink.attributes import Malformed, attributes
from netdiag.linux.netlink.messages import MessageType, request
from netdiag.linux.netlink.readers import ip_address, number, text

_BODY = struct.Struct("=BBBBI")
_IPV4, _IPV6 = 2, 10
_ADDRESS, _LOCAL, _LABEL, _BROADCAST, _FLAGS = 1, 2, 3, 4, 8


def request_addresses() -> bytes:
    """All addresses of both families."""
    return request(MessageType.GET_ADDRESS, _BODY.pack(0, 0, 0, 0, 0))


def decode_address(payload: memoryview | bytes) -> InterfaceAddress | None:
    """One address of a NEW_ADDRESS message; None for another family than IPv4 and IPv6."""
    data = bytes(payload)
    if len(data) < _BODY.size:
        raise Malformed(f"an address of {len(data)} bytes")
    family, prefix_length, flags, scope, ifindex = _BODY.unpack_from(data)
    if family not in (_IPV4, _IPV6):
        return None
    get = attributes(data, _BODY.size).get
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
