"""Just enough of Kafka's protocol to ask the lab's brokers, from inside any network namespace.

Written for the lab alone: what it tests must not be what it is built with.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

_CLONE_NEWNET = 0x40000000
_LIMIT = 4 << 20
_T = TypeVar("_T")


def within(netns: Path, act: Callable[[], _T]) -> _T:
    """Run `act` on a thread that has entered `netns`; the thread ends with it."""

    def body() -> _T:
        _enter(netns)
        return act()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(body).result()


def call(connection: socket.socket, key: int, version: int, body: bytes) -> bytes:
    """One request and its answer after the correlation id; old header, nothing flexible."""
    request = struct.pack(">hhih", key, version, 7, 3) + b"lab" + body
    connection.sendall(struct.pack(">i", len(request)) + request)
    size = struct.unpack(">i", _exactly(connection, 4))[0]
    if not 4 <= size <= _LIMIT:
        raise OSError(f"answer of {size} bytes")
    return _exactly(connection, size)[4:]


class Reader:
    """Reads the fields of an answer one after the other; past its end it raises struct.error."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def int8(self) -> int:
        """The next byte."""
        return self._number(">b")

    def int16(self) -> int:
        """The next two bytes."""
        return self._number(">h")

    def int32(self) -> int:
        """The next four bytes."""
        return self._number(">i")

    def string(self) -> str | None:
        """The next nullable string."""
        length = self.int16()
        if length < 0:
            return None
        text = self._data[self._at : self._at + length].decode()
        self._at += length
        return text

    def _number(self, form: str) -> int:
        value: int = struct.unpack_from(form, self._data, self._at)[0]
        self._at += struct.calcsize(form)
        return value


def _enter(netns: Path) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    handle = os.open(netns, os.O_RDONLY)
    try:
        if library.setns(handle, _CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"setns: {os.strerror(number)}")
    finally:
        os.close(handle)


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise OSError("closed before the answer")
        parts += part
    return bytes(parts)
