"""One netlink socket in one network namespace: a request in, the kernel's messages out.

A socket keeps the namespace in which it was made, so a channel is opened by a thread that has entered the namespace (or
is handed a socket made there) and may then be used from anywhere, by one thread at a time. Requests are whole messages
with their header (netlink(7), linux/netlink.h); the sequence number is set here, and NLM_F_REQUEST too. What the
messages mean is not known here.

An answer is complete or an error: a dump during which the kernel's tables changed (NLM_F_DUMP_INTR) is asked again, and
the last one is taken if they never stand still, which `interrupted` tells.
"""

import errno
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self

from netdiag.errors import MissingRight, NetdiagError

ROUTE, SOCK_DIAG, NETFILTER, GENERIC = 0, 4, 12, 16

_NLMSG_NOOP, _NLMSG_ERROR, _NLMSG_DONE, _NLMSG_OVERRUN = 1, 2, 3, 4
_NLM_F_REQUEST, _NLM_F_ACK, _NLM_F_DUMP, _NLM_F_DUMP_INTR = 0x1, 0x4, 0x300, 0x10
_SOL_NETLINK, _NETLINK_GET_STRICT_CHK = 270, 12
_SO_RCVTIMEO = 20
_HEADER = struct.Struct("=IHHII")
_ERRNO = struct.Struct("=i")
_HEADER_SIZE = 16
_SOCKET_BUFFER = 1024 * 1024
_MESSAGE_LIMIT = 4 * 1024 * 1024
_ANSWER_LIMIT = 256 * 1024 * 1024
_TRIES = 5
# The kernel answers in the sender's own system call; this only ends what should never happen.
_SECONDS = 10

Message = tuple[int, memoryview]


class Refused(NetdiagError):
    """The kernel would not answer; `number` is its errno, 0 where the answer itself was the trouble."""

    def __init__(self, message: str, *, number: int = 0, where: str | None = None) -> None:
        super().__init__(message, where=where)
        self.number = number


class _Truncated(Exception):
    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class Channel:
    """A netlink socket of one protocol. `interrupted` says whether the last dump may be torn."""

    __slots__ = ("_buffer", "_protocol", "_sequence", "_socket", "interrupted")

    def __init__(self, protocol: int, made: socket.socket | None = None, buffer: bytearray | None = None) -> None:
        """With `made` a socket of that protocol, otherwise one of the calling thread's namespace.

        `buffer` is room to receive in, which channels that are used one after another may share.
        """
        self._protocol = protocol
        self._sequence = 0
        self._buffer = bytearray(128 * 1024) if buffer is None else buffer
        self.interrupted = False
        try:
            if made is None:
                made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol)
        except OSError as error:
            raise _translated(error.errno or 0, protocol) from error
        self._socket = made
        self._prepare()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._socket.fileno()

    def dump(self, request: bytes) -> Iterator[Message]:
        """The messages of a dump, as (type, payload); MissingRight or Refused where the kernel does not give it."""
        return ((kind, memoryview(payload)) for kind, payload in self._whole(request))

    def payloads(self, request: bytes) -> list[bytes]:
        """The payloads alone of a dump whose messages are all of one type."""
        return [payload for _, payload in self._whole(request)]

    def _whole(self, request: bytes) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] | None = None
        for _ in range(_TRIES):
            try:
                found = self._dump(request)
            except _Truncated as error:
                self._make_room(error.size)
                continue
            if not self.interrupted:
                break
        if found is None:
            raise Refused("messages that grow with every attempt", number=errno.EMSGSIZE, where=_where(self._protocol))
        return found

    def ask(self, request: bytes) -> Message:
        """The one message that answers a request which is no dump; Refused with ENOENT where there is no such thing."""
        for _ in range(_TRIES):
            try:
                return self._ask(request)
            except _Truncated as error:
                self._make_room(error.size)
        raise Refused("messages that grow with every attempt", number=errno.EMSGSIZE, where=_where(self._protocol))

    def _dump(self, request: bytes) -> list[tuple[int, bytes]]:
        self.interrupted = False
        self._send(request, _NLM_F_REQUEST | _NLM_F_DUMP)
        found: list[tuple[int, bytes]] = []
        size, sequence, unpack = 0, self._sequence, _HEADER.unpack_from
        while True:
            data = self._receive()
            size = _bounded(size + len(data), self._protocol)
            start, end = 0, len(data)
            while start + _HEADER_SIZE <= end:
                length, kind, flags, number, _ = unpack(data, start)
                stop = start + length
                if length < _HEADER_SIZE or stop > end:
                    raise Refused("a message with a wrong length", where=_where(self._protocol))
                if number == sequence:
                    if flags & _NLM_F_DUMP_INTR:
                        self.interrupted = True
                    if kind > _NLMSG_OVERRUN:
                        found.append((kind, data[start + _HEADER_SIZE : stop]))
                    elif kind in (_NLMSG_DONE, _NLMSG_ERROR):
                        # a dump may fail at its end: the number is in DONE, then
                        self._check(data[start + _HEADER_SIZE : stop])
                        return found
                start = (stop + 3) & ~3

    def _ask(self, request: bytes) -> Message:
        self._send(request, _NLM_F_REQUEST)
        size = 0
        while True:
            data = self._receive()
            size = _bounded(size + len(data), self._protocol)
            for kind, payload in self._messages(data):
                if kind == _NLMSG_ERROR:
                    self._check(payload)
                    raise Refused("an acknowledgement in the place of an answer", where=_where(self._protocol))
                return kind, memoryview(payload)

    def _make_room(self, size: int) -> None:
        """Forget what is left of an answer that did not fit, and have room for it the next time."""
        with suppress(BlockingIOError):
            while self._socket.recv_into(self._buffer, 0, socket.MSG_DONTWAIT):
                pass
        self._buffer = bytearray(size + size // 2)

    def _prepare(self) -> None:
        channel = self._socket
        channel.setblocking(True)
        channel.setsockopt(socket.SOL_SOCKET, _SO_RCVTIMEO, struct.pack("@ll", _SECONDS, 0))
        try:
            channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SOCKET_BUFFER)
            if self._protocol == ROUTE:
                # Linux 4.20; without it filters in the request are overlooked, which the readers can live with
                channel.setsockopt(_SOL_NETLINK, _NETLINK_GET_STRICT_CHK, 1)
        except OSError:
            return

    def _send(self, request: bytes, flags: int) -> None:
        self._sequence += 1
        message = bytearray(request)
        length, kind, given, _, _ = _HEADER.unpack_from(message)
        _HEADER.pack_into(message, 0, length, kind, given | flags, self._sequence, 0)
        try:
            self._socket.send(message)
        except OSError as error:
            raise _translated(error.errno or 0, self._protocol) from error

    def _receive(self) -> bytes:
        try:
            # With MSG_TRUNC the true length is told even where the buffer is too small.
            size = self._socket.recv_into(self._buffer, 0, socket.MSG_TRUNC)
        except OSError as error:
            raise _translated(error.errno or 0, self._protocol) from error
        if size <= len(self._buffer):
            return bytes(memoryview(self._buffer)[:size])
        if size > _MESSAGE_LIMIT:
            raise Refused(f"a message of {size} bytes", number=errno.EMSGSIZE, where=_where(self._protocol))
        raise _Truncated(size)

    def _messages(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Type and payload of each message that answers the present request."""
        start, end, sequence = 0, len(data), self._sequence
        while start + _HEADER_SIZE <= end:
            length, kind, _, number, _ = _HEADER.unpack_from(data, start)
            if length < _HEADER_SIZE or start + length > end:
                raise Refused("a message with a wrong length", where=_where(self._protocol))
            if number == sequence:
                yield kind, data[start + _HEADER_SIZE : start + length]
            start += (length + 3) & ~3

    def _check(self, payload: bytes) -> None:
        number = -_ERRNO.unpack_from(payload)[0] if len(payload) >= _ERRNO.size else 0
        if number > 0:
            raise _translated(number, self._protocol)


def _bounded(size: int, protocol: int) -> int:
    if size > _ANSWER_LIMIT:
        raise Refused(f"an answer of more than {_ANSWER_LIMIT >> 20} MiB", where=_where(protocol))
    return size


def _translated(number: int, protocol: int) -> NetdiagError:
    if number in (errno.EPERM, errno.EACCES):
        return MissingRight("the kernel tells this only to root", where=_where(protocol))
    if number in (errno.EAGAIN, errno.ETIMEDOUT):
        return Refused(f"no answer within {_SECONDS} seconds", number=number, where=_where(protocol))
    return Refused(os.strerror(number).lower(), number=number, where=_where(protocol))


def _where(protocol: int) -> str:
    names = {ROUTE: "rtnetlink", SOCK_DIAG: "sock_diag", NETFILTER: "nfnetlink", GENERIC: "generic netlink"}
    return names.get(protocol, f"netlink {protocol}")
