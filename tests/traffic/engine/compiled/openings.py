"""Captures of many short connections: opened and ended in ordinary ways, and in others."""

import random
import struct
from collections.abc import Iterator

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.packet import ACK, FIN, PSH, RST, SYN
from tests.traffic.engine.capture_files import START, pcap
from tests.traffic.engine.compiled.conversations import request, response
from tests.traffic.engine.packets import tcp_packet

_WINDOW = 14 + 20 + 14
_SECOND = 1_000_000_000
_SOFTWARE = {"client_software_name": "apache-kafka-java", "client_software_version": "4.0.0"}

Packet = tuple[int, bytes]


def short_connections(rng: random.Random, count: int, *, odd: float = 0.3, ports: int = 20) -> bytes:
    """A capture of so many, a few at a time; with chance `odd` something about each step is not ordinary."""
    made: list[bytes] = []
    running: list[Iterator[bytes]] = []
    begun = 0
    while begun < count or running:
        if begun < count and len(running) < 6:
            # one behind the other, or now and then two at a time on the same port
            port = begun % ports if rng.random() >= odd else rng.randrange(ports)
            running.append(_connection(rng, odd, 40_000 + port))
            begun += 1
        one = rng.choice(running)
        packet = next(one, None)
        if packet is None:
            running.remove(one)
        else:
            made.append(packet)
    time, out = START, []
    for packet in made:
        time += rng.choice((1000, 50_000, 2_000_000))
        if rng.random() < odd / 40:
            time += rng.choice((6, 31, 3700)) * _SECOND
        out.append((time, packet))
    return pcap(out, nanoseconds=True)


def hello(rng: random.Random, correlation: int, odd: float) -> bytes:
    """ApiVersions, of some version."""
    version = rng.choice((0, 1, 2, 3, 4))
    name = rng.choice(("", None, "x" * 64, "a client")) if rng.random() < odd else "app"
    return wire.encode_request(18, version, correlation, name, _SOFTWARE if version > 2 else {})


def welcome(rng: random.Random, correlation: int, asked: bytes) -> bytes:
    """The answer, now and then that this version is not known."""
    if rng.random() < 0.2:
        body = struct.pack(">ihi", correlation, 35, 0)
        return struct.pack(">i", len(body)) + body
    keys = [{"api_key": key, "min_version": 0, "max_version": 4} for key in (0, 1, 3, 18)]
    return wire.encode_response(18, struct.unpack_from(">h", asked, 6)[0], correlation, {"api_keys": keys})


class _Ends:
    """Both ends of a connection; `send` gives a packet."""

    def __init__(self, rng: random.Random, port: int) -> None:
        self.rng = rng
        self.ends = (f"10.0.0.1:{port}", "10.0.0.2:9092")
        self.next = [rng.choice((rng.randrange(1 << 32), (1 << 32) - rng.randrange(400))) for _ in range(2)]

    def send(self, side: int, payload: bytes = b"", flags: int = ACK, *, back: int = 0, counts: bool = True) -> bytes:
        packet = tcp_packet(
            self.ends[side],
            self.ends[1 - side],
            sequence=(self.next[side] - back) & 0xFFFFFFFF,
            acknowledgement=self.next[1 - side] & 0xFFFFFFFF if flags & ACK else 0,
            flags=flags,
            payload=payload,
            number=self.rng.randrange(1 << 16),
        )
        if counts:
            self.next[side] += len(payload) - back + bool(flags & (SYN | FIN))
        data = bytearray(packet.data)
        struct.pack_into(">H", data, _WINDOW, self.rng.choice((500, 500, 500, 0)))
        return bytes(data)


def _connection(rng: random.Random, odd: float, port: int) -> Iterator[bytes]:
    ends = _Ends(rng, port)
    yield from _opened(ends, rng, odd)
    yield from _talked(ends, rng, odd)
    yield from _ended(ends, rng, odd)


def _opened(ends: _Ends, rng: random.Random, odd: float) -> Iterator[bytes]:
    for side, flags in ((0, SYN), (1, SYN | ACK), (0, ACK)):
        what = rng.choice(("missing", "twice", "payload", "flags", "reset")) if rng.random() < odd / 3 else ""
        payload = b"early" if what == "payload" else b""
        packet = ends.send(side, payload, flags | (RST if what == "reset" else PSH if what == "flags" else 0))
        if what != "missing":
            yield packet
        if what == "twice":
            yield packet


def _talked(ends: _Ends, rng: random.Random, odd: float) -> Iterator[bytes]:
    first = rng.choice(("metadata", "tls", "http", "torn", "two", "long", "server")) if rng.random() < odd / 2 else ""
    asked = hello(rng, 1, odd)
    if first in ("tls", "http"):
        yield ends.send(0, b"\x16\x03\x01\x00\x05hello" if first == "tls" else b"GET / HTTP/1.1\r\n\r\n", ACK | PSH)
        return
    if first == "metadata":
        asked = request(1)
    elif first == "two":
        asked += request(2)
    elif first == "server":
        yield ends.send(1, response(7), ACK | PSH)
    elif first == "long":
        asked = wire.encode_request(18, 3, 1, "y" * 90, _SOFTWARE)
    cut = rng.randrange(1, len(asked)) if first == "torn" else len(asked)
    yield ends.send(0, asked[:cut], ACK | PSH)
    if cut < len(asked):
        yield ends.send(0, asked[cut:], ACK | PSH)
    if rng.random() < 0.9:
        yield ends.send(1, response(1) if first == "metadata" else welcome(rng, 1, asked), ACK | PSH)
    for number in range(2, rng.choice((2, 3, 5, 40))):
        asked = hello(rng, number, odd) if rng.random() < odd / 5 else request(number)
        yield ends.send(0, asked, ACK | PSH)
        if rng.random() < 0.2:
            yield ends.send(1)
        if rng.random() < 0.9:
            yield ends.send(1, response(number), ACK | PSH)
        if rng.random() < odd / 5:
            yield ends.send(0, asked[-3:], back=3, counts=False)


def _ended(ends: _Ends, rng: random.Random, odd: float) -> Iterator[bytes]:
    if rng.random() < odd / 4:
        yield ends.send(1, response(99)[:-2], ACK | PSH)
    how = rng.choice(("fin", "fin", "fin", "reset", "half", "open"))
    first = rng.randrange(2)
    if how == "reset":
        yield ends.send(first, b"", rng.choice((RST, RST | ACK)))
    for side in (first, 1 - first)[: {"fin": 2, "half": 1}.get(how, 0)]:
        payload = b"last" if rng.random() < odd / 4 else b""
        packet = ends.send(side, payload, FIN | ACK)
        yield packet
        if rng.random() < odd / 2:
            yield packet
        if rng.random() < 0.8:
            yield ends.send(1 - side)
    if rng.random() < odd / 3:
        yield ends.send(first, b"", rng.choice((RST, ACK)))
        yield ends.send(0, request(50), ACK | PSH)
