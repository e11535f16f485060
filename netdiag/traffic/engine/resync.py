"""Find where a message begins in a stream whose boundaries are not known: in mid-stream, or behind a hole.

Places to look at are the beginnings of segments, and in between what looks like a header: the client id of the
connection, the correlation ids of requests that wait for their responses. What cannot be decided yet is looked at
again when more has come; a message that only could be one is never enough.
"""

import re
import struct
from collections.abc import Iterator
from itertools import chain, islice

from netdiag.traffic.engine.candidates import Verdict, judge_request, judge_response
from netdiag.traffic.engine.identify import LARGEST, stranger_midway
from netdiag.traffic.engine.message import Spoken
from netdiag.traffic.engine.talk import Talk
from netdiag.traffic.engine.unframed import Piece, Unframed

KEPT_PIECES = 1024
KEPT_BYTES = 131_072
PENDING = 16
"""Places that wait for more; of more than so many the oldest are given up."""

PLACES = 512
"""Places that are looked at in one segment."""

PATTERNS = 32
"""Correlation ids that are looked for at a time, those that wait longest first."""

_ANY_REQUEST = re.compile(rb"(?=[\0-\x0f][\s\S]{3}\0[\0-\x7f]\0[\0-\x1f][\s\S]{4})")
_SMALL = 256
_HEADER = 12
_LEAST = 4


class Searcher(Unframed):
    """The pieces of a direction that are not framed yet, and the search for a boundary in them."""

    __slots__ = ("alone", "looked", "pending", "strangers", "talk", "tried")

    def __init__(self, talk: Talk) -> None:
        super().__init__()
        self.talk = talk
        self.looked = 0
        self.pending: list[tuple[int, bool]] = []
        self.tried = 0
        self.alone: list[int] = []
        self.strangers = 0

    def is_full(self) -> bool:
        """Whether the oldest pieces are to be given up."""
        return self.bytes > KEPT_BYTES or len(self.pieces) > KEPT_PIECES

    def cut(self, position: int) -> tuple[list[Piece], list[Piece]]:
        """Part the pieces at a position, and forget them and what was seen in them."""
        self.looked = self.tried = 0
        self.pending = []
        self.alone = []
        return super().cut(position)

    def drop_half(self) -> list[Piece]:
        """Forget the older half of the pieces."""
        old = super().drop_half()
        self.looked = max(0, self.looked - len(old))
        self.tried = max(0, self.tried - len(old))
        first = self.starts[0] if self.starts else self.end
        self.pending = [place for place in self.pending if place[0] >= first]
        self.alone = [place for place in self.alone if place >= first]
        return old

    def first_bytes(self) -> tuple[bytes, bool]:
        """What is there from the start without a hole, and whether there is a hole behind it."""
        out = self.peek(self.starts[0], 4096) if self.starts else b""
        total = 0
        for piece in self.pieces:
            total += len(piece.kept)
            if piece.gap or len(piece.kept) < piece.length:
                return out, total <= len(out)
        return out, False

    def find(self, is_request: bool, final: bool = False) -> int | None:
        """The position at which a message begins, where that is proven."""
        judge = judge_request if is_request else judge_response
        waiting: list[tuple[int, bool]] = []
        for place in self.pending:
            verdict = judge(self.talk, self, *place, final)
            if verdict is Verdict.YES:
                return place[0]
            if verdict is Verdict.LATER:
                waiting.append(place)
        while self.looked < len(self.pieces):
            index = self.looked
            self.looked += 1
            for place in self._places(index, is_request):
                verdict = judge(self.talk, self, *place, final)
                if verdict is Verdict.YES:
                    return next((early for early, _ in waiting if self._leads(early, place[0])), place[0])
                if verdict is Verdict.LATER:
                    waiting.append(place)
        self.pending = waiting[-PENDING:]
        return None

    def find_unasked(self) -> int | None:
        """The position at which responses begin, where no request was seen: from a segment's beginning on, in a row."""
        places = [*self.alone, *(self.starts[at] for at in range(self.tried, len(self.pieces)) if self.pieces[at].kept)]
        self.tried = len(self.pieces)
        waiting: list[int] = []
        for place in places:
            verdict = judge_response(self.talk, self, place, True, False)
            if verdict is Verdict.YES:
                return place
            if verdict is Verdict.LATER:
                waiting.append(place)
        self.alone = waiting[-PENDING:]
        return None

    def stranger(self) -> Spoken | None:
        """What else the segments not looked at yet begin with; TLS has to show itself twice."""
        for piece in self.pieces[self.looked :]:
            spoken = stranger_midway(piece.kept)
            if spoken is Spoken.TLS:
                self.strangers += 1
                if self.strangers < 2:
                    continue
            if spoken is not None:
                return spoken
        return None

    def _leads(self, start: int, goal: int) -> bool:
        """Whether the sizes from one place on lead to another."""
        while start < goal:
            head = self.peek(start, 4)
            if len(head) < 4:
                return False
            start += 4 + int.from_bytes(head)
        return start == goal

    def _places(self, index: int, is_request: bool) -> Iterator[tuple[int, bool]]:
        """Where a message may begin in a piece, or just before it where its header lies in two pieces."""
        piece, start = self.pieces[index], self.starts[index]
        data = bytes(piece.kept)
        if not data:
            return
        joined = index > 0 and len(self.pieces[index - 1].kept) == self.pieces[index - 1].length
        carry = b""
        if joined:
            reach = _HEADER + (len(self.talk.client_id or b"") if is_request else 0)
            before = self.pieces[index - 1].kept
            carry = bytes(before[-min(reach, len(before)) :])
        if len(data) >= 8 or joined:
            yield start, True
        data = carry + data
        base = start - len(carry)
        found = self._requests(data) if is_request else self._responses(data)
        likely = (offset for offset in found if _LEAST <= int.from_bytes(data[offset : offset + 4]) <= LARGEST)
        for offset in islice(likely, PLACES):
            if offset != len(carry):
                yield base + offset, base + offset in self.starts[max(0, index - 1) : index]

    def _requests(self, data: bytes) -> Iterator[int]:
        """Offsets at which a request may begin."""
        known = self.talk.client_id
        if known is None or len(known) <= 3 or len(data) <= _SMALL:
            return (match.start() for match in _ANY_REQUEST.finditer(data))
        named = (at - _HEADER for at in _all(data, known) if at >= _HEADER)
        tail = max(0, len(data) - _HEADER - len(known))
        return chain(named, (tail + match.start() for match in _ANY_REQUEST.finditer(data[tail:])))

    def _responses(self, data: bytes) -> Iterator[int]:
        """Offsets at which a response may begin, for each request that waits."""
        for correlation, _ in islice(self.talk.waiting, PATTERNS):
            yield from (at - 4 for at in _all(data, struct.pack(">i", correlation)) if at >= 4)


def _all(data: bytes, pattern: bytes) -> Iterator[int]:
    at = data.find(pattern)
    while at >= 0:
        yield at
        at = data.find(pattern, at + 1)
