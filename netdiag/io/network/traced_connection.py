"""Makes the real connection that a walk has predicted, and watches it: connect(2), rule counters, devices of the way.

Only the address that the user named is contacted, from the namespace that was named. Nothing is put into any namespace
but sockets, which are closed again.

Devices are watched by AF_PACKET sockets with a filter on the client's port, which is in place before a socket is bound,
so nothing else gets in; headers are looked at, payload is not kept. Sources: packet(7), linux/filter.h.
"""

import ctypes
import errno
import os
import select
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial

from netdiag.errors import NetdiagError
from netdiag.io.kernel.namespaces import enter
from netdiag.io.kernel.netlink import Channel
from netdiag.io.kernel.netns import Namespace
from netdiag.io.kernel.packet_filter import read_counters
from netdiag.linux.ruleset import RuleAddress, Ruleset
from netdiag.topology.graph import HopKind, Path, Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.path.attempts import (
    ConnectResult,
    LinkSighting,
    MovedCounter,
    Proof,
    judge_attempt,
    observed_end,
    predicted_links,
    required_links,
)
from netdiag.values import dataclass

_ETH_P_ALL = 3
_SO_ATTACH_FILTER = 26
_MOST_PACKETS = 256
_SETTLE = 0.05
_NOTHING = ((0x06, 0, 0, 0),)
# Three questions for a neighbour take 3 s; a first packet is sent again after 1 s and 3 s.
PATIENCE = 4.2
_AGAIN = 1.2
_AFTER = 0.5
_IDLE = 0.2
_ATTEMPTS = 3
_MOST_NAMESPACES = 16
_NFNETLINK = 12
_Counts = dict[tuple[int, RuleAddress], int]


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


def prove(topology: Topology, path: Path) -> Proof:
    """What came of a real connection to the address of the way; NetdiagError where none could be tried."""
    if not path.address:
        raise NetdiagError("nothing was sent: the name is no address here", where=path.destination)
    with ExitStack() as opened:
        return _Proving(topology, path, opened).proof()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """One attempt with what was counted meanwhile."""

    attempted: ConnectResult
    moved: _Counts


class _Proving:
    def __init__(self, topology: Topology, path: Path, opened: ExitStack) -> None:
        self._topology = topology
        self._path = path
        self._spaces: dict[int, Namespace] = {}
        self._notes: list[str] = []
        inventory = topology.inventory
        self._spaces[path.source] = opened.enter_context(enter(inventory, path.source))
        for netns in dict.fromkeys(hop.netns for hop in path.hops):
            if netns in self._spaces or len(self._spaces) >= _MOST_NAMESPACES:
                continue
            try:
                self._spaces[netns] = opened.enter_context(enter(inventory, netns))
            except NetdiagError as error:
                self._notes.append(f"not watched: {error}")

    def proof(self) -> Proof:
        path = self._path
        order = predicted_links(path)
        names = {at: link.ifname for at in order if (link := self._topology.inventory.link(at)) is not None}
        busy = self._idle()
        with Sightings(self._spaces, names) as sightings:
            windows = [self._window(sightings, PATIENCE)]
            if any(hop.rules for hop in path.hops) or windows[0].moved:
                windows += [self._window(sightings, _AGAIN) for _ in range(_ATTEMPTS - 1)]
            seen = sightings.seen(order)
            self._notes += sightings.notes
        moved = _moved(windows, busy)
        first = windows[0].attempted
        agreement, because = judge_attempt(
            path, first, seen, moved, required=required_links(path), counted=self._counted()
        )
        return Proof(
            path=path,
            end=observed_end(first.errno, closed=bool(first.closed)),
            errno=first.errno,
            seconds=first.seconds,
            attempts=len(windows),
            agreement=agreement,
            because=because,
            seen=seen,
            moved=moved,
            notes=tuple(self._notes),
        )

    def _counted(self) -> frozenset[tuple[int, RuleAddress]]:
        """The rules whose counters can be read."""
        return frozenset(self._counts())

    def _idle(self) -> frozenset[tuple[int, RuleAddress]]:
        """Rules that others move, too."""
        before = self._counts()
        time.sleep(_IDLE)
        return frozenset(_risen(before, self._counts()))

    def _window(self, sightings: Sightings, patience: float) -> _Window:
        before = self._counts()
        six = ":" in self._path.address
        space = self._spaces[self._path.source]
        with space.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_STREAM) as channel:
            channel.bind(("::" if six else "0.0.0.0", 0))
            port: int = channel.getsockname()[1]
            sightings.watch(port, six=six)
            attempted = _attempt(channel, self._path, patience)
            sightings.collect(port)
        return _Window(attempted=attempted, moved=_risen(before, self._counts()))

    def _counts(self) -> _Counts:
        found: _Counts = {}
        for netns, space in self._spaces.items():
            facts = self._topology.inventory.namespaces.get(netns)
            if facts is None or not facts.ruleset.tables:
                continue
            try:
                found |= {(netns, rule): count for rule, count in space.run(partial(_read, facts.ruleset)).items()}
            except NetdiagError as error:
                note = f"counters of rules: {error}"
                if note not in self._notes:
                    self._notes.append(note)
        return found


def _read(ruleset: Ruleset) -> Mapping[RuleAddress, int]:
    with Channel(_NFNETLINK) as channel:
        return read_counters(channel, ruleset)


def _attempt(channel: socket.socket, path: Path, patience: float) -> ConnectResult:
    began = time.monotonic()
    number = channel.connect_ex((path.address.partition("%")[0], path.port))
    if number == errno.EINPROGRESS:
        poll = select.poll()
        poll.register(channel, select.POLLOUT)
        number = (
            channel.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) if poll.poll(patience * 1000) else errno.ETIMEDOUT
        )
    seconds = time.monotonic() - began
    closed = None
    if not number and any(hop.kind is HopKind.PROXY for hop in path.hops):
        closed = _closes(channel)
    return ConnectResult(
        errno=errno.errorcode.get(number, str(number)) if number else "", closed=closed, seconds=seconds
    )


def _closes(channel: socket.socket) -> bool:
    """Whether the other end hangs up at once; nothing is said to it."""
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    if not poll.poll(_AFTER * 1000):
        return False
    try:
        return not channel.recv(1)
    except OSError:
        return True


def _risen(before: _Counts, after: _Counts) -> _Counts:
    return {key: count - before.get(key, 0) for key, count in after.items() if count > before.get(key, 0)}


def _moved(windows: Sequence[_Window], busy: frozenset[tuple[int, RuleAddress]]) -> tuple[MovedCounter, ...]:
    """The rules that every attempt moved."""
    always = set.intersection(*(set(window.moved) for window in windows))
    ordered = [key for key in windows[0].moved if key in always]
    return tuple(
        MovedCounter(
            netns=netns, rule=rule, packets=sum(w.moved[netns, rule] for w in windows), others=(netns, rule) in busy
        )
        for netns, rule in ordered
    )
