"""Netlink bytes put together by hand, without the package's own encoder."""

import struct


def nla(number: int, value: bytes) -> bytes:
    """An attribute with its padding."""
    return struct.pack("=HH", 4 + len(value), number) + value + b"\0" * (-len(value) % 4)


def u8(value: int) -> bytes:
    return struct.pack("=B", value)


def u16(value: int) -> bytes:
    return struct.pack("=H", value)


def u32(value: int) -> bytes:
    return struct.pack("=I", value)


def message(kind: int, payload: bytes, *, flags: int = 0, sequence: int = 1) -> bytes:
    """A whole message."""
    return struct.pack("=IHHII", 16 + len(payload), kind, flags, sequence, 0) + payload
