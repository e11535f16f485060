"""Whether a broker is ready, asked in Kafka's protocol with a few bytes of our own.

Independent of netdiag's code on purpose: the lab must not call ready what netdiag believes.
ApiVersions version 0 tells that a broker answers; Metadata tells which brokers and which
controller it knows, asked at the lowest version that the broker offers: 4.x has dropped the
oldest ones.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.errors import LabError
from tests.lab.kafka_wire import Reader, call, within

_API_VERSIONS, _METADATA, _CREATE_TOPICS = 18, 3, 19
_CREATE_VERSION = 2
_BROKEN = (OSError, struct.error, IndexError, UnicodeDecodeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What one broker says: the brokers in its metadata, whether it knows the controller, and the
    leader of each partition of the topic that was asked for."""

    node_ids: tuple[int, ...]
    endpoints: tuple[tuple[int, str, int], ...]
    has_controller: bool
    leaders: tuple[tuple[int, int], ...] = ()


class NotKafka(LabError):
    """Something else answered, or nothing."""


def ask(netns: Path, address: str, port: int, *, topic: str | None = None, timeout: float = 3.0) -> Knowledge:
    """What the broker at `address:port`, seen from `netns`, knows."""

    def talk() -> Knowledge:
        with socket.create_connection((address, port), timeout) as connection:
            versions = call(connection, _API_VERSIONS, 0, b"")
            return _metadata(connection, _lowest(versions, _METADATA), topic)

    try:
        return within(netns, talk)
    except _BROKEN as error:
        raise NotKafka(f"{address}:{port}: {error}") from error


def create_topic(netns: Path, address: str, port: int, name: str, leaders: Sequence[int], timeout: float = 15.0) -> int:
    """Ask this broker for a topic, partition i on broker `leaders[i]` alone; Kafka's error code."""
    body = struct.pack(">i", 1) + _string(name) + struct.pack(">ihi", -1, -1, len(leaders))
    for partition, node in enumerate(leaders):
        body += struct.pack(">iii", partition, 1, node)
    body += struct.pack(">ii?", 0, int(timeout * 1000), False)

    def talk() -> int:
        with socket.create_connection((address, port), timeout) as connection:
            reader = Reader(call(connection, _CREATE_TOPICS, _CREATE_VERSION, body))
            reader.int32()
            reader.int32()
            reader.string()
            return reader.int16()

    try:
        return within(netns, talk)
    except _BROKEN as error:
        raise NotKafka(f"{address}:{port}: {error}") from error


def _lowest(versions: bytes, key: int) -> int:
    error, count = struct.unpack_from(">hi", versions)
    if error != 0:
        raise OSError(f"error {error} to ApiVersions")
    for index in range(count):
        found, low = struct.unpack_from(">hh", versions, 6 + 6 * index)
        if found == key:
            return max(int(low), 1)
    raise OSError("no Metadata in ApiVersions")


def _metadata(connection: socket.socket, version: int, topic: str | None) -> Knowledge:
    # Versions 1 to 8 differ only in a few fields; from 9 on the encoding is another.
    if version > 8:
        raise OSError(f"metadata only from version {version}")
    body = struct.pack(">i", 0) if topic is None else struct.pack(">i", 1) + _string(topic)
    body += b"\x00" if version >= 4 else b""
    body += b"\x00\x00" if version >= 8 else b""
    reader = Reader(call(connection, _METADATA, version, body))
    if version >= 3:
        reader.int32()
    brokers = []
    for _ in range(reader.int32()):
        node, host, port = reader.int32(), reader.string() or "", reader.int32()
        reader.string()
        brokers.append((node, host, port))
    if version >= 2:
        reader.string()
    controller = reader.int32()
    return Knowledge(
        node_ids=tuple(sorted(node for node, _, _ in brokers)),
        endpoints=tuple(sorted(brokers)),
        has_controller=controller >= 0,
        leaders=_leaders(reader, version) if topic is not None else (),
    )


def _leaders(reader: Reader, version: int) -> tuple[tuple[int, int], ...]:
    """(partition, leader) of the one topic in the answer."""
    found = []
    reader.int32()
    reader.int16()
    reader.string()
    reader.int8()
    for _ in range(reader.int32()):
        reader.int16()
        found.append((reader.int32(), reader.int32()))
        if version >= 7:
            reader.int32()
        for _ in range(3 if version >= 5 else 2):
            for _ in range(reader.int32()):
                reader.int32()
    return tuple(sorted(found))


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()
