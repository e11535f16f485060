"""Capture files as arrays of packets, in the order of `Captures.packets`.

Files that follow one another are given chunk by chunk. Where files overlap in time, what lies between two packets of
another file is given as a part of a chunk, and as single packets where that is little.
"""

from bisect import insort
from collections import deque
from collections.abc import Iterator

import numpy as np

from netdiag.io.ahead import ahead, has_cores
from netdiag.io.captures import NEVER, CaptureFile, Captures
from netdiag.traffic.engine.compiled import front_merge
from netdiag.traffic.engine.compiled.front import BUFFERS, Array, Chunk, Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.front_merge import Waiting, merged
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.packet import Packet

PIECE = 4 * 1024 * 1024
_LEAST_PIECE = 64 * 1024
# What the pieces of all files may take together, were they open at the same time.
_MOST_BYTES = 64 * 1024 * 1024
# So many files at a time are read ahead.
_MOST_AHEAD = 2
# Fewer packets than this are given one by one.
_FEW = 8
# So many files at a time are merged.
_MOST_MERGED = 16


def read_chunks(
    captures: Captures, keys: Keys, *, piece: int = PIECE, can_merge: bool = True
) -> Iterator[Chunk | Packet]:
    """All packets by time, those of one file in its order; `keys` get their pairs of addresses.

    A chunk is good until the next one is asked for. With `can_merge` one may hold packets of several
    files.
    """
    piece = max(min(piece, _LEAST_PIECE), min(piece, _MOST_BYTES // (BUFFERS * len(captures.files))))
    most_ahead = _MOST_AHEAD if has_cores(2) else 0
    waiting = deque(sorted(captures.files, key=lambda file: (file.first_time, file.index)))
    # Those that are open, by their number; the one that gave the last packet goes on as long as it may.
    cursors: list[_Cursor] = []
    running: _Cursor | None = None
    while cursors or waiting:
        while waiting and (not cursors or waiting[0].first_time <= min(cursor.time for cursor in cursors)):
            opened = _Cursor(waiting.popleft(), keys, piece, is_ahead=len(cursors) < most_ahead)
            if not opened.is_over:
                insort(cursors, opened, key=lambda cursor: cursor.index)
        if not cursors:
            continue
        until = waiting[0].first_time if waiting else NEVER
        heads = [cursor.waiting for cursor in cursors]
        if can_merge and 1 < len(cursors) <= _MOST_MERGED and front_merge.can_merge(heads):
            turn = NOTHING if running is None else cursors.index(running)
            chunk, taken, turn = merged(heads, turn, NOTHING if until == NEVER else until)
            if chunk is not None:
                yield chunk
            running = None if turn == NOTHING else cursors[turn]
            for cursor, count in zip(cursors, taken, strict=True):
                cursor.pass_over(count)
        else:
            limit = min([until, *(cursor.time for cursor in cursors if cursor is not running)])
            if running is None or running.time > limit:
                running = min(cursors, key=lambda cursor: (cursor.time, cursor.index))
                limit = min([until, *(cursor.time for cursor in cursors if cursor is not running)])
            yield from running.until(limit)
            running = None
        cursors = [cursor for cursor in cursors if not cursor.is_over]
        running = running if running in cursors else None


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

    @property
    def waiting(self) -> Waiting:
        """The packets of the chunk that were not given yet."""
        return Waiting(self._chunk, self._at)

    def pass_over(self, count: int) -> None:
        """So many were given."""
        self._at += count
        if self._at == len(self._times):
            self._next_chunk()

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
