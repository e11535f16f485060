"""Watches devices for the packets of one TCP connection: AF_PACKET sockets with a filter on the client's port.

The filter is in place before a socket is bound, so nothing else gets in; headers are looked at, payload is not kept.
Sources: packet(7), linux/filter.h.
"""

import ctypes
import os
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from netdiag.errors import NetdiagError
from netdiag.io.kernel.netns import Namespace
from netdiag.topology.inventory import LinkId
from netdiag.topology.path.attempts import LinkSighting

_ETH_P_ALL = 3
_SO_ATTACH_FILTER = 26
_MOST_PACKETS = 256
_SETTLE = 0.05
_NOTHING = ((0x06, 0, 0, 0),)


class Sightings:
    """Sockets on devices of several namespaces; `devices` are the names by place."""

    def __init__(self, spaces: Mapping[int, Namespace], devices: Mapping[LinkId, str]) -> None:
        self._sockets: dict[LinkId, socket.socket] = {}
        self.notes: list[str] = []
        self._first: set[LinkId] = set()
        self._answer: set[LinkId] = set()
        for at, name in devices.items():
            space = spaces.get(at.netns)
            if space is None:
                continue
            try:
                self._sockets[at] = _open(space, name)
            except OSError as error:
                self.notes.append(f"{name} could not be watched: {os.strerror(error.errno or 0)}")

    def __enter__(self) -> "Sightings":
        return self

    def __exit__(self, *_: object) -> None:
        for channel in self._sockets.values():
            channel.close()

    def watch(self, port: int, *, six: bool) -> None:
        """From now on only what has this port at either end counts; what came before is forgotten."""
        for channel in self._sockets.values():
            _attach(channel, _about(port, six=six))
            _drain(channel)

    def collect(self, port: int) -> None:
        """Look at what has come."""
        time.sleep(_SETTLE)
        for at, channel in self._sockets.items():
            for packet in _drain(channel):
                ports = _ports(packet)
                if ports is not None and ports[0] == port:
                    self._first.add(at)
                elif ports is not None and ports[1] == port:
                    self._answer.add(at)

    def seen(self, order: Sequence[LinkId]) -> tuple[LinkSighting, ...]:
        """What was seen on the devices that could be watched."""
        return tuple(
            LinkSighting(link=at, first=at in self._first, answer=at in self._answer)
            for at in order
            if at in self._sockets
        )


def _open(space: Namespace, name: str) -> socket.socket:
    """In cooked mode: packets begin with their IP header, whatever the device."""
    try:
        channel = space.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    except NetdiagError as error:
        raise OSError(1, error.message) from error
    try:
        _attach(channel, _NOTHING)
        channel.bind((name, _ETH_P_ALL))
    except OSError:
        channel.close()
        raise
    return channel


def _attach(channel: socket.socket, program: Sequence[tuple[int, int, int, int]]) -> None:
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *one) for one in program))
    channel.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HP", len(program), ctypes.addressof(code)))


def _about(port: int, *, six: bool) -> tuple[tuple[int, int, int, int], ...]:
    """TCP from or to a port: `ip6 proto 6` or `ip proto 6`, then either port."""
    take, leave = (0x06, 0, 0, 128), (0x06, 0, 0, 0)
    if six:
        return (
            (0x30, 0, 0, 6),
            (0x15, 0, 5, 6),
            (0x28, 0, 0, 40),
            (0x15, 2, 0, port),
            (0x28, 0, 0, 42),
            (0x15, 0, 1, port),
            take,
            leave,
        )
    return (
        (0x30, 0, 0, 9),
        (0x15, 0, 6, 6),
        (0xB1, 0, 0, 0),
        (0x48, 0, 0, 0),
        (0x15, 2, 0, port),
        (0x48, 0, 0, 2),
        (0x15, 0, 1, port),
        take,
        leave,
    )


def _drain(channel: socket.socket) -> list[bytes]:
    found: list[bytes] = []
    with suppress(OSError):
        while len(found) < _MOST_PACKETS:
            found.append(channel.recv(128))
    return found


def _ports(packet: bytes) -> tuple[int, int] | None:
    start = 40 if packet[:1] and packet[0] >> 4 == 6 else (packet[0] & 0xF) * 4 if packet else 0
    if len(packet) < start + 4 or not start:
        return None
    first, second = struct.unpack_from("!HH", packet, start)
    return first, second
