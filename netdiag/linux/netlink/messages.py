"""Requests to the kernel over netlink (netlink(7), linux/netlink.h)."""

import struct
from enum import IntEnum

REQUEST, DUMP = 0x1, 0x300
_HEADER = struct.Struct("=IHHII")


class MessageType(IntEnum):
    """The types of the requests and answers (linux/netlink.h, rtnetlink.h, net_namespace.h, sock_diag.h, netconf.h)."""

    NEW_LINK = 16
    GET_LINK = 18
    SOCK_DIAG_BY_FAMILY = 20
    GET_ADDRESS = 22
    NEW_ROUTE = 24
    GET_ROUTE = 26
    GET_NEIGHBOUR = 30
    GET_RULE = 34
    GET_NETCONF = 82
    NEW_NSID = 88
    GET_NSID = 90


def request(kind: int, body: bytes, attributes: bytes = b"", *, flags: int = DUMP) -> bytes:
    """A message to the kernel; `body` is the fixed part that belongs to `kind`, already padded.

    Who sends it sets its sequence number.
    """
    length = _HEADER.size + len(body) + len(attributes)
    return _HEADER.pack(length, kind, REQUEST | flags, 0, 0) + body + attributes
