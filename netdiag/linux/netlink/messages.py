"""Netlink messages: requests as bytes, datagrams taken apart, refusals (netlink(7), linux/netlink.h)."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from netdiag.linux.netlink.attributes import Malformed, attributes

REQUEST, ACK, DUMP = 0x1, 0x4, 0x300
# On an answer: the table changed while it was read, so the dump is not one picture (NLM_F_DUMP_INTR).
_INTERRUPTED = 0x10
# On a refusal: the request is not repeated in it; attributes say more (NLM_F_CAPPED, NLM_F_ACK_TLVS).
_CAPPED, _EXPLAINED = 0x100, 0x200

_HEADER = struct.Struct("=IHHII")
_SEQUENCE = struct.Struct("=I")
_ERROR = struct.Struct("=i")
_REASON, _PLACE = 1, 2


class MessageType(IntEnum):
    """Numbers of messages that are asked for here (linux/netlink.h, rtnetlink.h, net_namespace.h, sock_diag.h)."""

    NOOP = 1
    ERROR = 2
    DONE = 3
    OVERRUN = 4
    NEW_LINK = 16
    GET_LINK = 18
    SOCK_DIAG_BY_FAMILY = 20
    NEW_ADDRESS = 20
    GET_ADDRESS = 22
    NEW_ROUTE = 24
    GET_ROUTE = 26
    NEW_NEIGHBOUR = 28
    GET_NEIGHBOUR = 30
    NEW_RULE = 32
    GET_RULE = 34
    NEW_NSID = 88
    GET_NSID = 90


class Message(NamedTuple):
    """One message of a datagram; `payload` is what follows its header, a view of the datagram."""

    type: int
    flags: int
    sequence: int
    payload: memoryview

    @property
    def interrupted(self) -> bool:
        """Whether the table changed while it was read: the whole dump is to be asked for again."""
        return bool(self.flags & _INTERRUPTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What an ERROR or DONE says: `errno` 0 is none. `message` is the kernel's own reason, "" for none."""

    errno: int
    message: str = ""
    offset: int | None = None


def request(kind: int, body: bytes, attributes_: bytes = b"", *, flags: int = DUMP, sequence: int = 0) -> bytes:
    """A message to the kernel; `body` is the fixed part that belongs to `kind`, already padded."""
    length = _HEADER.size + len(body) + len(attributes_)
    return _HEADER.pack(length, kind, REQUEST | flags, sequence, 0) + body + attributes_


def with_sequence(asked: bytes, sequence: int) -> bytes:
    """The same request under another number, by which its answers can be told from late ones."""
    return asked[:8] + _SEQUENCE.pack(sequence & 0xFFFFFFFF) + asked[12:]


def messages(datagram: bytes | bytearray | memoryview) -> Iterator[Message]:
    """The messages of one datagram; Malformed once a length leads out of it."""
    view = memoryview(datagram)
    start, end = 0, len(view)
    unpack, size = _HEADER.unpack_from, _HEADER.size
    while start < end:
        if end - start < size:
            raise Malformed(f"{end - start} bytes after the last message")
        length, kind, flags, sequence, _ = unpack(view, start)
        stop = start + length
        if length < size or stop > end:
            raise Malformed(f"message {kind} says {length} bytes of {end - start}")
        yield Message(kind, flags, sequence, view[start + size : stop])
        start = (stop + 3) & ~3


def decode_refusal(message: Message) -> Refusal:
    """What an ERROR or a DONE tells; an acknowledgement and an orderly end have the errno 0."""
    payload = bytes(message.payload)
    if len(payload) < _ERROR.size:
        if message.type == MessageType.DONE and not payload:
            return Refusal(errno=0)
        raise Malformed(f"a refusal of {len(payload)} bytes")
    errno = -_ERROR.unpack_from(payload)[0]
    if not message.flags & _EXPLAINED:
        return Refusal(errno=max(errno, 0))
    start = _ERROR.size
    if message.type == MessageType.ERROR:
        start += _repeated(payload[start:], capped=bool(message.flags & _CAPPED))
    said = attributes(payload, start)
    place = said.get(_PLACE, b"")
    return Refusal(
        errno=max(errno, 0),
        message=said.get(_REASON, b"").split(b"\0", 1)[0].decode("utf-8", "backslashreplace"),
        offset=_SEQUENCE.unpack(place)[0] if len(place) == 4 else None,
    )


def _repeated(data: bytes, *, capped: bool) -> int:
    """How much of a refusal the request takes that it is about."""
    if len(data) < _HEADER.size:
        raise Malformed("a refusal that does not say of what")
    length = _HEADER.size if capped else _HEADER.unpack_from(data)[0]
    if not _HEADER.size <= length <= len(data):
        raise Malformed(f"a refusal of a message of {length} bytes")
    return int((length + 3) & ~3)
