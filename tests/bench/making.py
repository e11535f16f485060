"""Captures made of our own encoder's messages: so many connections, or one, of any size, and very large messages.

They need neither root nor clients, and how much is in them is known exactly. A message is a template, the bytes of its
packets, for what a client asks and a broker answers; a chunk of the file is made of all templates at once, with
addresses, ports, sequence numbers and correlation ids written into them.
"""

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from netdiag.kafka import protocol as wire

ASK, ANSWER = 0, 1
_PRODUCE, _FETCH, _METADATA, _OFFSET_COMMIT, _HEARTBEAT, _API_VERSIONS = 0, 1, 3, 8, 12, 18
_SYN, _ACK, _PUSH = 0x02, 0x10, 0x08
_SEGMENT = 1448
_HEADERS = 14 + 20 + 20
_RECORD_HEADER = 16
_BEFORE_CORRELATION = (8, 4)
_BEFORE_CLIENT = 4 + 2 + 2 + 4 + 2 + len("app-")
_CLIENT = "app-00000"
_TIME = 1_700_000_000_000
_LZ4 = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The records of a message's packets in one row; where each packet begins in it and how much payload it has.

    `correlation` and `client` are the places of the correlation id and of five digits, 0 where there are none; `first`
    is the packet that acknowledges nothing.
    """

    row: npt.NDArray[np.uint8]
    packets: tuple[tuple[int, int], ...]
    payload: int
    side: int
    correlation: int = 0
    client: int = 0
    first: bool = False


def handshake() -> Iterator[Template]:
    """The three packets that open a connection."""
    for side, flags in ((ASK, _SYN), (ANSWER, _SYN | _ACK), (ASK, _ACK)):
        row = np.frombuffer(_packet(b"", flags), np.uint8)
        yield Template(row=row, packets=((0, 0),), payload=0, side=side, first=flags == _SYN)


def conversation() -> list[tuple[Template, Template]]:
    """How a client begins, then what it asks and is answered, in about the shares that are seen in clusters."""
    chance = random.Random(11)
    pairs = [_api_versions()]
    for number in range(8):
        topic = f"topic-{number}"
        pairs.append(_produced(topic, number, _batch(chance, 300 + 300 * number)))
        pairs.append(_fetched(topic, number, _batch(chance, 500 + 700 * number)))
        pairs.append(_fetched(topic, number, b""))
        if number % 4 == 0:
            pairs += [_heartbeat(), _committed(topic), _described(topic)]
    return pairs


def large(size: int) -> tuple[Template, Template]:
    """A Fetch whose answer has records of that size."""
    return _fetched("topic-0", 0, _batch(random.Random(3), size))


def _api_versions() -> tuple[Template, Template]:
    request = {"client_software_name": "made", "client_software_version": "1"}
    keys = [{"api_key": key, "min_version": 0, "max_version": 9} for key in range(20)]
    return _pair(_API_VERSIONS, 3, request, {"error_code": 0, "api_keys": keys})


def _produced(topic: str, partition: int, records: bytes) -> tuple[Template, Template]:
    sent = {"index": partition, "records": records}
    request = {"acks": -1, "timeout_ms": 1000, "topic_data": [{"name": topic, "partition_data": [sent]}]}
    answer = {"index": partition, "error_code": 0, "base_offset": 5}
    return _pair(_PRODUCE, 9, request, {"responses": [{"name": topic, "partition_responses": [answer]}]})


def _fetched(topic: str, partition: int, records: bytes) -> tuple[Template, Template]:
    wanted = {"partition": partition, "fetch_offset": 7, "partition_max_bytes": 1 << 20}
    request = {
        "max_wait_ms": 100,
        "min_bytes": 1,
        "max_bytes": 1 << 28,
        "session_id": 0,
        "session_epoch": -1,
        "topics": [{"topic": topic, "partitions": [wanted]}],
    }
    found = {"partition_index": partition, "error_code": 0, "high_watermark": 40, "records": records}
    return _pair(_FETCH, 12, request, {"error_code": 0, "responses": [{"topic": topic, "partitions": [found]}]})


def _heartbeat() -> tuple[Template, Template]:
    return _pair(_HEARTBEAT, 4, {"group_id": "readers", "generation_id": 3, "member_id": "m-1"}, {"error_code": 0})


def _committed(topic: str) -> tuple[Template, Template]:
    partition = {"partition_index": 0, "committed_offset": 9, "committed_metadata": ""}
    request = {"group_id": "readers", "topics": [{"name": topic, "partitions": [partition]}]}
    answer = {"topics": [{"name": topic, "partitions": [{"partition_index": 0, "error_code": 0}]}]}
    return _pair(_OFFSET_COMMIT, 8, request, answer)


def _described(topic: str) -> tuple[Template, Template]:
    brokers = [{"node_id": number, "host": f"10.0.0.{number}", "port": 9092} for number in (1, 2, 3)]
    partitions = [
        {"error_code": 0, "partition_index": number, "leader_id": 1 + number % 3, "replica_nodes": [1, 2, 3]}
        for number in range(8)
    ]
    topics = [{"error_code": 0, "name": topic, "partitions": partitions}]
    return _pair(_METADATA, 9, {"topics": [{"name": topic}]}, {"brokers": brokers, "topics": topics})


def _pair(key: int, version: int, request: dict[str, Any], answer: dict[str, Any]) -> tuple[Template, Template]:
    return (
        _template(ASK, wire.encode_request(key, version, 0, _CLIENT, request)),
        _template(ANSWER, wire.encode_response(key, version, 0, answer)),
    )


def _template(side: int, message: bytes) -> Template:
    pieces = [message[begin : begin + _SEGMENT] for begin in range(0, len(message), _SEGMENT)]
    rows, packets, place = [], [], 0
    for piece in pieces:
        rows.append(_packet(piece, _ACK | _PUSH))
        packets.append((place, len(piece)))
        place += len(rows[-1])
    payload = _RECORD_HEADER + _HEADERS
    return Template(
        row=np.frombuffer(b"".join(rows), np.uint8),
        packets=tuple(packets),
        payload=len(message),
        side=side,
        correlation=payload + _BEFORE_CORRELATION[side],
        client=payload + _BEFORE_CLIENT if side == ASK else 0,
    )


def _packet(payload: bytes, flags: int) -> bytes:
    """The record of a packet; what differs from one to the next is zero."""
    size = _HEADERS + len(payload)
    ip = struct.pack(">BBHHHBBH8x", 0x45, 0, size - 14, 0, 0x4000, 64, 6, 0)
    tcp = struct.pack(">HHIIBBHHH", 0, 0, 0, 0, 0x50, flags, 64_000, 0, 0)
    return struct.pack("<IIII", 0, 0, size, size) + bytes(12) + b"\x08\x00" + ip + tcp + payload


def _batch(chance: random.Random, size: int) -> bytes:
    """A record batch of ten records: nobody looks into compressed ones."""
    records = chance.randbytes(size)
    head = struct.pack(">bIhiqqqhii", 2, 0, _LZ4, 9, _TIME, _TIME + 5, -1, -1, -1, 10)
    return struct.pack(">qii", 0, len(head) + len(records) + 4, -1) + head + records


_START = 1_700_000_000
_BROKER_PORT = 9092
_CHUNK = 4096
# about how many bytes one takes
_EXCHANGE = 1500
_BEHIND = 40
_PIPELINED = 5
_PAUSE = 10
_LARGE = 1 << 30
_ADDRESSES, _SEQUENCE = 16 + 26, 16 + 38


Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What is in a capture that was made; the counts are exact."""

    exchanges: int
    packets: int


def make(target: Path, size: int, *, connections: int, largest: int = 0, sightings: int = 1) -> Made:
    """About `size` bytes over so many connections, all of them open all the time.

    `largest` is the size of the records in one Fetch response in the middle; 0 for none. Every message is in the
    capture `sightings` times, at once, each time under other addresses of the clients.
    """
    with target.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1))
        maker = _Maker(file, connections, max(1, min(_CHUNK, size // _EXCHANGE // 10)), sightings)
        waiting = largest
        # every connection is used
        while file.tell() < size - waiting or maker.exchanged < connections:
            maker.exchanges()
            if waiting and file.tell() > (size - waiting) // 2:
                maker.large_answer(waiting)
                waiting = 0
        maker.last_answers()
    return Made(exchanges=maker.exchanged, packets=maker.packets)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Messages:
    """Columns: which template, on which connection, its first sequence number, what it acknowledges, its number."""

    template: Numbers
    connection: Numbers
    sequence: Numbers
    acknowledged: Numbers
    correlation: Numbers

    def __getitem__(self, part: slice) -> "_Messages":
        return _Messages(**{name: getattr(self, name)[part] for name in self.__slots__})

    def repeated(self, times: int) -> "_Messages":
        """Each so many times in a row."""
        return _Messages(**{name: np.repeat(getattr(self, name), times) for name in self.__slots__})

    def then(self, other: "_Messages") -> "_Messages":
        """Both, one behind the other."""
        return _Messages(
            **{name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in self.__slots__}
        )


_NOTHING = _Messages(**{name: np.zeros(0, np.int64) for name in _Messages.__slots__})


class _Maker:
    """Every next exchange is on the next connection; its answer comes `behind` requests later."""

    def __init__(self, file: BinaryIO, connections: int, chunk: int, sightings: int) -> None:
        self._file = file
        self._sightings = sightings
        self._chunk = chunk
        self._count = connections
        self._behind = _BEHIND if connections > _BEHIND else _PIPELINED
        self._templates: list[Template] = [*handshake()]
        self._pairs = list(self._added(*conversation()))
        self._chance = np.random.default_rng(7)
        # as systems do: connections with the same numbers would be one, seen under translated addresses
        self._next = self._chance.integers(1, 2**32, (2, connections))
        # what the broker had sent before each of the last exchanges, where several are on their way at once
        self._before = np.tile(self._next[ANSWER], self._behind // connections)
        self._late = _NOTHING
        self._asked = 0
        self._besides = 0
        self.packets = 0
        # Of the next packet, in pauses.
        self._time = 0
        self._open()

    @property
    def exchanged(self) -> int:
        """How many exchanges there are."""
        return self._asked + self._besides

    def _added(self, *pairs: tuple[Template, Template]) -> Iterator[tuple[int, int]]:
        for ask, answer in pairs:
            self._templates += [ask, answer]
            yield len(self._templates) - 2, len(self._templates) - 1

    def exchanges(self) -> None:
        """The next chunk."""
        first = self._asked % self._count
        rows = max(1, self._chunk // self._count)
        until = min(self._count, first + self._chunk)
        shape = (rows, until - first)
        picked = self._chance.integers(1, len(self._pairs), shape)
        if self._asked < self._count:
            # ApiVersions, as every client begins
            picked[0] = 0
        pairs = np.array(self._pairs)[picked]
        connection = np.tile(np.arange(first, until), rows)
        sizes = np.array([template.payload for template in self._templates])
        sequences = []
        for side in (ASK, ANSWER):
            grown = np.cumsum(sizes[pairs[..., side]], axis=0)
            sequences.append(self._next[side, first:until] + grown - sizes[pairs[..., side]])
            self._next[side, first:until] += grown[-1]
        asked, answered = (one.ravel() for one in sequences)
        seen = np.concatenate([self._before, answered])
        self._before = seen[len(answered) :]
        correlation = (self._asked + np.arange(asked.size)) // self._count
        asks = _Messages(
            template=pairs[..., ASK].ravel(),
            connection=connection,
            sequence=asked,
            acknowledged=seen[: len(answered)],
            correlation=correlation,
        )
        answers = _Messages(
            template=pairs[..., ANSWER].ravel(),
            connection=connection,
            sequence=answered,
            acknowledged=asked + sizes[pairs[..., ASK]].ravel(),
            correlation=correlation,
        )
        self._asked += asked.size
        self._interleave(asks, answers)

    def _interleave(self, asks: _Messages, answers: _Messages) -> None:
        waiting = self._late.then(answers)
        due = max(0, waiting.template.size - self._behind)
        self._late = waiting[due:]
        count = asks.template.size
        order = np.argsort(np.concatenate([np.arange(count), np.arange(count - due, count) + 0.5]), kind="stable")
        both = asks.then(waiting[:due])
        self._write(_Messages(**{name: getattr(both, name)[order] for name in both.__slots__}))

    def large_answer(self, size: int) -> None:
        """One exchange on the first connection whose answer is that large."""
        self.last_answers()
        ((ask, answer),) = self._added(large(size))
        asked, answered = self._next[:, 0].copy()
        payloads = self._templates[ask].payload, self._templates[answer].payload
        self._next[:, 0] += payloads
        self._write(
            _Messages(
                template=np.array([ask, answer]),
                connection=np.zeros(2, np.int64),
                sequence=np.array([asked, answered]),
                acknowledged=np.array([answered, asked + payloads[0]]),
                correlation=np.full(2, _LARGE),
            )
        )
        self._besides += 1

    def last_answers(self) -> None:
        """Those that are still to come."""
        self._write(self._late)
        self._late = _NOTHING

    def _open(self) -> None:
        for first in range(0, self._count, _CHUNK):
            connection = np.repeat(np.arange(first, min(self._count, first + _CHUNK)), 3)
            template = np.tile(np.arange(3), connection.size // 3)
            self._write(
                _Messages(
                    template=template,
                    connection=connection,
                    sequence=np.where(template == 1, self._next[ANSWER, connection], self._next[ASK, connection])
                    - (template < 2),
                    acknowledged=np.where(template == 1, self._next[ASK, connection], self._next[ANSWER, connection]),
                    correlation=np.zeros(connection.size, np.int64),
                )
            )

    def _write(self, messages: _Messages) -> None:
        counts = np.array([len(template.packets) for template in self._templates])[messages.template]
        packets = np.repeat(self._time + np.cumsum(counts) - counts, self._sightings)
        self._time += int(counts.sum())
        self.packets += int(counts.sum()) * self._sightings
        sighting = np.tile(np.arange(self._sightings), messages.template.size)
        messages = messages.repeated(self._sightings)
        sizes = np.array([template.row.size for template in self._templates])[messages.template]
        places = np.cumsum(sizes) - sizes
        out = np.empty(int(sizes.sum()), np.uint8)
        for number in np.unique(messages.template):
            chosen = np.flatnonzero(messages.template == number)
            rows = self._filled(int(number), messages, chosen, packets[chosen], sighting[chosen])
            if chosen.size == 1:
                out[places[chosen[0]] : places[chosen[0]] + rows.size] = rows[0]
            else:
                out[places[chosen][:, None] + np.arange(rows.shape[1])] = rows
        self._file.write(out.tobytes())

    def _filled(self, number: int, messages: _Messages, chosen: Numbers, packets: Numbers, sighting: Numbers) -> Bytes:
        """Copies of a template, each with what is its own."""
        template = self._templates[number]
        rows = np.tile(template.row, (chosen.size, 1))
        connection = messages.connection[chosen]
        ends = _ends(connection)
        ends[:, 0] += sighting.astype(np.uint8)
        if template.side == ANSWER:
            ends = ends[:, [4, 5, 6, 7, 0, 1, 2, 3, 10, 11, 8, 9]]
        sequence, done = messages.sequence[chosen], 0
        for packet, (at, payload) in enumerate(template.packets):
            time = (packets + packet) * _PAUSE
            clock = np.stack([_START + time // 1_000_000, time % 1_000_000], 1)
            rows[:, at : at + 8] = clock.astype("<u4").view(np.uint8)
            rows[:, at + _ADDRESSES : at + _ADDRESSES + 12] = ends
            numbers = np.stack([sequence + done, messages.acknowledged[chosen]], 1) & 0xFFFFFFFF
            if template.first:
                numbers[:, 1] = 0
            rows[:, at + _SEQUENCE : at + _SEQUENCE + 8] = numbers.astype(">u4").view(np.uint8)
            done += payload
        if template.correlation:
            rows[:, template.correlation : template.correlation + 4] = (
                messages.correlation[chosen].astype(">i4").view(np.uint8).reshape(-1, 4)
            )
        if template.client:
            digits = connection[:, None] // 10 ** np.arange(4, -1, -1) % 10
            rows[:, template.client : template.client + 5] = digits + ord("0")
        return rows


def _ends(connection: Numbers) -> Bytes:
    """Addresses of client and broker, then their ports, as they are in the headers of what the client sends."""
    ends = np.zeros((connection.size, 12), np.uint8)
    machine = connection // 50_000
    ends[:, 0], ends[:, 1], ends[:, 2], ends[:, 3] = (
        10,
        1 + machine % 200,
        connection // 200 % 250,
        1 + connection % 200,
    )
    ends[:, 4], ends[:, 5], ends[:, 6], ends[:, 7] = 10, 0, 0, 1 + connection % 3
    ends[:, 8:10] = (10_000 + connection % 50_000).astype(">u2").view(np.uint8).reshape(-1, 2)
    ends[:, 10:12] = np.frombuffer(struct.pack(">H", _BROKER_PORT), np.uint8)
    return ends
