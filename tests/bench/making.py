"""Captures made of our own encoder's messages: so many connections, or one, of any size, and very large messages.

They need neither root nor clients, and how much is in them is known exactly. A message is a template, the bytes of
its packets; a chunk of the file is made of all templates at once, with addresses, ports, sequence numbers and
correlation ids written into them.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from tests.bench.templates import ANSWER, ASK, Template, conversation, handshake, large

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
