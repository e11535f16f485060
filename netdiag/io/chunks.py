"""Capture files as arrays of packets, in the order of `Captures.packets`.

Files that follow one another are given chunk by chunk. Where files overlap in time, what lies between two packets of
another file is given as a part of a chunk, and as single packets where that is little.
"""

import heapq
from collections import deque
from collections.abc import Iterator

import numpy as np

from netdiag.io.ahead import ahead
from netdiag.io.captures import NEVER, CaptureFile, Captures
from netdiag.traffic.engine.compiled.front import BUFFERS, Array, Chunk, Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.packet import Packet

PIECE = 2 * 1024 * 1024
_LEAST_PIECE = 64 * 1024
# What the pieces of all files may take together, were they open at the same time.
_MOST_BYTES = 64 * 1024 * 1024
# So many files at a time are read ahead.
_MOST_AHEAD = 2
# Fewer packets than this are given one by one.
_FEW = 8


def read_chunks(captures: Captures, keys: Keys, *, piece: int = PIECE) -> Iterator[Chunk | Packet]:
    """All packets by time, those of one file in its order; `keys` get their pairs of addresses.

    A chunk is good until the next one is asked for.
    """
    piece = max(min(piece, _LEAST_PIECE), min(piece, _MOST_BYTES // (BUFFERS * len(captures.files))))
    waiting = deque(sorted(captures.files, key=lambda file: (file.first_time, file.index)))
    heap: list[tuple[int, int, _Cursor]] = []
    while heap or waiting:
        while waiting and (not heap or waiting[0].first_time <= heap[0][0]):
            opened = _Cursor(waiting.popleft(), keys, piece, is_ahead=len(heap) < _MOST_AHEAD)
            if not opened.is_over:
                heapq.heappush(heap, (opened.time, opened.index, opened))
        if not heap:
            continue
        cursor = heapq.heappop(heap)[2]
        yield from cursor.until(min(heap[0][0] if heap else NEVER, waiting[0].first_time if waiting else NEVER))
        if not cursor.is_over:
            heapq.heappush(heap, (cursor.time, cursor.index, cursor))


class _Cursor:
    """Where reading is in one file."""

    def __init__(self, file: CaptureFile, keys: Keys, piece: int, *, is_ahead: bool) -> None:
        front = Front(keys, file=file.index, account=file.account)
        chunks = file.eaten_by(front, piece)
        self.index = file.index
        self.is_over = False
        self._at = 0
        self._chunks = ahead(chunks) if is_ahead else chunks
        self._next_chunk()

    @property
    def time(self) -> int:
        """When the next packet was captured."""
        return int(self._times[self._at])

    def until(self, limit: int) -> Iterator[Chunk | Packet]:
        """The next packet, and those behind it before the first one that is later than `limit`."""
        is_first = True
        while not self.is_over and (is_first or self.time <= limit):
            begin = self._at
            end = _first_later(self._times, begin + is_first, limit)
            self._at, is_first = end, False
            yield from self._given(begin, end)
            if end == len(self._times):
                self._next_chunk()

    def _given(self, begin: int, end: int) -> Iterator[Chunk | Packet]:
        if end - begin == len(self._times):
            yield self._chunk
        elif end - begin < _FEW:
            for index in range(begin, end):
                yield self._chunk.packet(index)
        else:
            yield self._chunk.part(begin, end)

    def _next_chunk(self) -> None:
        for chunk in self._chunks:
            if len(chunk.packets):
                self._chunk, self._times, self._at = chunk, chunk.packets["time"], 0
                return
        self.is_over = True


def _first_later(times: Array, begin: int, limit: int) -> int:
    """Of times from `begin` on the index of the first one that is later than `limit`, else how many there are."""
    if limit >= NEVER:
        return len(times)
    # Where files are interleaved the next packet is it already, so not all of them are looked at.
    step = _FEW
    while begin < len(times):
        later = np.flatnonzero(times[begin : begin + step] > limit)
        if len(later):
            return begin + int(later[0])
        begin, step = begin + step, 4 * step
    return len(times)
