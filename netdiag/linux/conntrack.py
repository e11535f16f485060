"""Connections in the kernel's connection tracking: the address that a client connects to, and the one that answers.

Source: linux/netfilter/nfnetlink_conntrack.h, linux/netfilter/nf_conntrack_common.h.
"""

import ipaddress
import struct
from collections.abc import Iterator

from netdiag.linux.netlink.nfnetlink import Malformed, number, table
from netdiag.linux.protocols import protocol_word
from netdiag.values import dataclass

_SUBSYSTEM, _GET = 1, 1
_NLM_F_REQUEST, _NLM_F_DUMP = 0x1, 0x300
_MESSAGE = struct.Struct("=IHHIIBBH")
_HEADER_SIZE = 4
_FAMILIES = {2: 4, 10: 6}
_ORIGINAL, _REPLY, _STATUS, _PROTOCOL_INFO, _TIMEOUT, _MARK, _ZONE = 1, 2, 3, 4, 7, 8, 18
_ADDRESSES, _PROTOCOL = 1, 2
_SOURCE4, _DESTINATION4, _SOURCE6, _DESTINATION6 = 1, 2, 3, 4
_NUMBER, _SOURCE_PORT, _DESTINATION_PORT = 1, 2, 3
_SEEN_REPLY, _ASSURED = 2, 4
_TCP_STATES = (
    *("NONE", "SYN_SENT", "SYN_RECV", "ESTABLISHED", "FIN_WAIT", "CLOSE_WAIT", "LAST_ACK", "TIME_WAIT", "CLOSE"),
    "SYN_SENT2",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionTuple:
    """Source and destination of one direction; ports are 0 for protocols that have none."""

    source: str
    destination: str
    source_port: int = 0
    destination_port: int = 0

    @property
    def turned(self) -> "ConnectionTuple":
        """The tuple of the opposite direction."""
        return ConnectionTuple(
            source=self.destination,
            destination=self.source,
            source_port=self.destination_port,
            destination_port=self.source_port,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedConnection:
    """One connection: `original` is how its first packet was sent, `reply` how answers come.

    `family` is 4 or 6, `state` the word of TCP's state ("SYN_SENT", "ESTABLISHED"), "" for other protocols. `timeout`
    is in seconds.
    """

    family: int
    protocol: str
    original: ConnectionTuple
    reply: ConnectionTuple
    state: str = ""
    zone: int = 0
    mark: int = 0
    timeout: int = 0
    answered: bool = False
    assured: bool = False

    @property
    def destination_translated(self) -> bool:
        """Whether the answering address differs from the one that the client connected to (DNAT)."""
        wanted = self.original.turned
        return (self.reply.source, self.reply.source_port) != (wanted.source, wanted.source_port)

    @property
    def source_translated(self) -> bool:
        """Whether answers go to an address other than the client's (SNAT)."""
        wanted = self.original.turned
        return (self.reply.destination, self.reply.destination_port) != (wanted.destination, wanted.destination_port)


def get_connections() -> bytes:
    """The request for all connections of both families."""
    flags = _NLM_F_REQUEST | _NLM_F_DUMP
    return _MESSAGE.pack(_MESSAGE.size, _SUBSYSTEM << 8 | _GET, flags, 0, 0, 0, 0, 0)


def decode_connection(payload: memoryview) -> TrackedConnection | None:
    """One message; None for protocols that are not IP's."""
    if len(payload) < _HEADER_SIZE:
        raise Malformed("a message without a header")
    family = _FAMILIES.get(payload[0])
    if family is None:
        return None
    parts = table(payload[_HEADER_SIZE:])
    original, protocol = _ends(parts.get(_ORIGINAL, memoryview(b"")))
    reply, _ = _ends(parts.get(_REPLY, memoryview(b"")))
    status = number(parts.get(_STATUS))
    return TrackedConnection(
        family=family,
        protocol=protocol,
        original=original,
        reply=reply,
        state=_state(parts.get(_PROTOCOL_INFO)),
        zone=number(parts.get(_ZONE)),
        mark=number(parts.get(_MARK)),
        timeout=number(parts.get(_TIMEOUT)),
        answered=bool(status & _SEEN_REPLY),
        assured=bool(status & _ASSURED),
    )


def _ends(data: memoryview) -> tuple[ConnectionTuple, str]:
    parts = table(data)
    addresses, protocol = (table(parts.get(kind, memoryview(b""))) for kind in (_ADDRESSES, _PROTOCOL))
    ends = ConnectionTuple(
        source=_address(addresses, _SOURCE4, _SOURCE6),
        destination=_address(addresses, _DESTINATION4, _DESTINATION6),
        source_port=number(protocol.get(_SOURCE_PORT)),
        destination_port=number(protocol.get(_DESTINATION_PORT)),
    )
    return ends, protocol_word(number(protocol.get(_NUMBER)))


def _address(parts: dict[int, memoryview], *kinds: int) -> str:
    for value in _present(parts, kinds):
        if len(value) in (4, 16):
            return str(ipaddress.ip_address(value))
    return ""


def _present(parts: dict[int, memoryview], kinds: tuple[int, ...]) -> Iterator[bytes]:
    for kind in kinds:
        if kind in parts:
            yield bytes(parts[kind])


def _state(data: memoryview | None) -> str:
    if data is None:
        return ""
    inside = table(data).get(1)
    if inside is None:
        return ""
    code = table(inside).get(1)
    index = number(code)
    if code is None:
        return ""
    return _TCP_STATES[index] if index < len(_TCP_STATES) else f"state {index}"
