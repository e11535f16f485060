"""RTM_GETNSID: by which number a namespace knows another one (linux/net_namespace.h). Asking assigns none."""

import struct

from netdiag.linux.netlink.attributes import Malformed, attribute, attributes
from netdiag.linux.netlink.messages import MessageType, request
from netdiag.linux.netlink.readers import signed

# struct rtgenmsg is one byte, padded
_BODY = b"\0\0\0\0"
_NUMBER = struct.Struct("=I")
_NSID, _DESCRIPTOR = 1, 3
UNASSIGNED = -1


def request_nsid(descriptor: int) -> bytes:
    """The number of the namespace that is open as `descriptor` in this process."""
    return request(MessageType.GET_NSID, _BODY, attribute(_DESCRIPTOR, _NUMBER.pack(descriptor)), flags=0)


def request_nsids() -> bytes:
    """All numbers that are assigned."""
    return request(MessageType.GET_NSID, _BODY)


def decode_nsid(payload: memoryview | bytes) -> int:
    """The number of a NEW_NSID message; UNASSIGNED where there is none."""
    data = bytes(payload)
    if len(data) < len(_BODY):
        raise Malformed(f"a namespace number of {len(data)} bytes")
    found = attributes(data, len(_BODY))
    return signed(found[_NSID]) if _NSID in found else UNASSIGNED
