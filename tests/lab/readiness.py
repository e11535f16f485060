"""Whether a broker is ready, asked in Kafka's protocol with a few bytes of our own.

Independent of netdiag's code on purpose: the lab must not call ready what netdiag believes.
ApiVersions version 0 tells that a broker answers; Metadata tells which brokers and which
controller it knows, asked at the lowest version that the broker offers: 4.x has dropped the
oldest ones.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.lab.errors import LabError

_API_VERSIONS, _METADATA = 18, 3
_CLONE_NEWNET = 0x40000000
_LIMIT = 4 << 20
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What one broker says: the brokers in its metadata and whether it knows the controller."""

    node_ids: tuple[int, ...]
    endpoints: tuple[tuple[int, str, int], ...]
    has_controller: bool


class NotKafka(LabError):
    """Something else answered, or nothing."""


def ask(netns: Path, address: str, port: int, timeout: float = 3.0) -> Knowledge:
    """What the broker at `address:port`, seen from `netns`, knows."""

    def talk() -> Knowledge:
        with socket.create_connection((address, port), timeout) as connection:
            versions = _call(connection, _API_VERSIONS, 0, b"")
            return _metadata(connection, _lowest(versions, _METADATA))

    try:
        return within(netns, talk)
    except (OSError, struct.error, IndexError, UnicodeDecodeError) as error:
        raise NotKafka(f"{address}:{port}: {error}") from error


def within(netns: Path, act: Callable[[], _T]) -> _T:
    """Run `act` on a thread that has entered `netns`; the thread ends with it."""
    results: list[_T] = []
    errors: list[BaseException] = []

    def body() -> None:
        try:
            _enter(netns)
            results.append(act())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def _enter(netns: Path) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    handle = os.open(netns, os.O_RDONLY)
    try:
        if library.setns(handle, _CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"setns: {os.strerror(number)}")
    finally:
        os.close(handle)


def _call(connection: socket.socket, key: int, version: int, body: bytes) -> bytes:
    """The response body after the correlation id; header version 1 (old, not flexible)."""
    request = struct.pack(">hhih", key, version, 7, 3) + b"lab" + body
    connection.sendall(struct.pack(">i", len(request)) + request)
    size = struct.unpack(">i", _exactly(connection, 4))[0]
    if not 4 <= size <= _LIMIT:
        raise OSError(f"answer of {size} bytes")
    return _exactly(connection, size)[4:]


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise OSError("closed before the answer")
        parts += part
    return bytes(parts)


def _lowest(versions: bytes, key: int) -> int:
    error, count = struct.unpack_from(">hi", versions)
    if error != 0:
        raise OSError(f"error {error} to ApiVersions")
    for index in range(count):
        found, low, _high = struct.unpack_from(">hhh", versions, 6 + 6 * index)
        if found == key:
            return max(low, 1)
    raise OSError("no Metadata in ApiVersions")


def _metadata(connection: socket.socket, version: int) -> Knowledge:
    # Versions 1 to 8 differ only in what follows the topics of the request and precedes the
    # brokers of the answer (a throttle time from 3, the cluster id from 2).
    if version > 8:
        raise OSError(f"metadata only from version {version}")
    body = struct.pack(">i", 0)
    body += b"\x00" if version >= 4 else b""
    body += b"\x00\x00" if version >= 8 else b""
    reader = _Reader(_call(connection, _METADATA, version, body))
    if version >= 3:
        reader.int32()
    brokers = []
    for _ in range(reader.int32()):
        node, host, port = reader.int32(), reader.string() or "", reader.int32()
        reader.string()
        brokers.append((node, host, port))
    if version >= 2:
        reader.string()
    return Knowledge(
        node_ids=tuple(sorted(node for node, _, _ in brokers)),
        endpoints=tuple(sorted(brokers)),
        has_controller=reader.int32() >= 0,
    )


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def int32(self) -> int:
        value: int = struct.unpack_from(">i", self._data, self._at)[0]
        self._at += 4
        return value

    def string(self) -> str | None:
        length = struct.unpack_from(">h", self._data, self._at)[0]
        self._at += 2
        if length < 0:
            return None
        text = self._data[self._at : self._at + length].decode()
        self._at += length
        return text
