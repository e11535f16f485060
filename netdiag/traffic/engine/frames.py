"""Kafka messages from one direction of a connection, by their size fields, also where bytes are missing.

TCP says how many bytes a hole has. So a message that the snap length cut short, or that lost a packet, ends where its
size says, and the next one begins there. Boundaries are lost only with a size field; resync finds them again.
"""

import struct
from typing import NamedTuple

from netdiag.traffic.engine.identify import LARGEST, SMALLEST_REQUEST, SMALLEST_RESPONSE, is_request
from netdiag.traffic.engine.message import Message, Walker
from netdiag.traffic.engine.resync import Searcher
from netdiag.traffic.engine.talk import Talk
from netdiag.traffic.engine.unframed import Piece

START, SEARCH, FRAMES, ASIDE = range(4)
WALK_HEAD = 4096
"""The bytes of a message that a walker eats which are kept all the same."""

INSIDE = "inside messages"
OUTSIDE = "between messages"

_SIZE = struct.Struct(">i").unpack_from
_NOTHING = memoryview(b"")


class Loss(NamedTuple):
    """Bytes of one kind that are no message, or not all of one."""

    kind: str
    bytes: int
    times: int
    detail: str
    time: int


class Framer:
    """Takes one direction in order and hands its messages to the sink.

    `mode`: START, at the first byte of the stream; SEARCH, no boundary is known; FRAMES; ASIDE, this is not Kafka.
    """

    __slots__ = (
        "aside",
        "broken",
        "buffer",
        "decided",
        "frame_bytes",
        "frames",
        "header",
        "is_request",
        "least",
        "left",
        "mode",
        "noted",
        "searcher",
        "size",
        "start_number",
        "start_time",
        "talk",
        "truncated_bytes",
        "walker",
    )

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.mode = SEARCH
        self.is_request: bool | None = None
        self.least = SMALLEST_RESPONSE
        self.searcher = Searcher(talk)
        self.aside = ("", "")
        self.noted: dict[tuple[str, str], list[int]] = {}
        self.frames = self.frame_bytes = self.truncated_bytes = 0
        self.header = b""
        self.size = self.left = 0
        self.buffer = bytearray()
        self.broken = False
        self.start_time = self.start_number = 0
        self.walker: Walker | None = None
        self.decided = False

    def become(self, is_request: bool) -> None:
        """Requests or responses travel this way."""
        self.is_request = is_request
        self.least = SMALLEST_REQUEST if is_request else SMALLEST_RESPONSE

    def take(self, view: memoryview | bytes, length: int, time: int, number: int, file: int) -> None:
        """The next `length` bytes; those of them behind the end of `view` were not kept."""
        kept = len(view)
        if kept < length:
            self.truncated_bytes += length - kept
        if self.mode == FRAMES:
            self.cut(view, length, time, number, file)
        else:
            self._put_aside(Piece(view, length, time, number, file, False))

    def gap(self, length: int, time: int, number: int, file: int) -> None:
        """The next `length` bytes are in no packet; the given one shows that they were sent."""
        if self.mode != FRAMES:
            self._put_aside(Piece(_NOTHING, length, time, number, file, True))
            return
        if self.left:
            inside = min(self.left, length)
            self.note("gap", INSIDE, inside, time)
            self._body(_NOTHING, inside, time, number, file)
            length -= inside
        if length:
            self._lose(Piece(_NOTHING, length, time, number, file, True))

    def cut(self, view: memoryview | bytes, length: int, time: int, number: int, file: int) -> None:
        """Cut the next bytes into messages."""
        kept = len(view)
        offset = 0
        if self.left or self.header:
            offset = self._go_on(view, length, time, number, file)
            if offset < 0:
                return
        keep = self.talk.keep
        while offset + 4 <= kept:
            size: int = _SIZE(view, offset)[0]
            if size > LARGEST or (size < self.least and not (self.talk.raw and size >= 0)):
                break
            end = offset + 4 + size
            if end > length or size > keep:
                self._begin(size, time, number)
                offset += 4
                inside = min(size, length - offset)
                self._body(view[offset : offset + inside], inside, time, number, file)
                offset += inside
                if self.left:
                    return
                continue
            if end > kept:
                self.note("truncated", INSIDE, end - kept, time)
            self._emit(size, bytes(view[offset + 4 : end]), None, time, time, number, number, file)
            offset = end
        if offset >= length:
            return
        if kept == length and kept - offset < 4:
            self.header = bytes(view[offset:])
            self.start_time, self.start_number = time, number
            return
        self._lose(Piece(view[offset:], length - offset, time, number, file, False))

    def note(self, kind: str, detail: str, count: int, time: int) -> None:
        """Count bytes as lost."""
        entry = self.noted.get((kind, detail))
        if entry is None:
            self.noted[kind, detail] = [count, 1, time]
        else:
            entry[0] += count
            entry[1] += 1

    @property
    def losses(self) -> list[Loss]:
        """What was lost, by kind and detail."""
        return [Loss(kind, count, times, detail, time) for (kind, detail), (count, times, time) in self.noted.items()]

    def forget(self, pieces: list[Piece], kind: str, detail: str) -> None:
        """Count pieces as lost that hold no message: what was kept as the given kind, the rest as what it is."""
        for piece in pieces:
            kept = len(piece.kept)
            if kept:
                self.note(kind, detail, kept, piece.time)
            if kept < piece.length:
                self.note("gap" if piece.gap else "truncated", OUTSIDE, piece.length - kept, piece.time)

    def set_aside(self, kind: str, detail: str) -> None:
        """This direction is not Kafka: all of it is counted as something else."""
        self.mode = ASIDE
        self.aside = (kind, detail)
        before, after = self.searcher.cut(self.searcher.end)
        self.forget(before + after, kind, detail)

    def found(self, position: int) -> None:
        """A message begins at a position of what was put aside."""
        before, after = self.searcher.cut(position)
        self.forget(before, "resync", OUTSIDE)
        self.mode = FRAMES
        for piece in after:
            if self.mode != FRAMES:
                self.searcher.add(piece)
            elif piece.gap:
                self.gap(piece.length, piece.time, piece.number, piece.file)
            else:
                self.cut(piece.kept, piece.length, piece.time, piece.number, piece.file)

    def skip(self, length: int, detail: str) -> None:
        """Leave out what stands in front of the protocol."""
        before, after = self.searcher.cut(self.searcher.starts[0] + length)
        self.forget(before, "other-protocol", detail)
        for piece in after:
            self.searcher.add(piece)

    def finish(self) -> None:
        """Nothing more comes: what is not a whole message is lost."""
        if self.mode == FRAMES:
            framed = self.size - self.left if self.left else 0
            if self.left:
                self.note("gap", "unfinished message at the end", 4 + framed, self.start_time)
            elif self.header:
                self.note("gap", "unfinished message at the end", len(self.header), self.start_time)
            self.left, self.header = 0, b""
            return
        before, after = self.searcher.cut(self.searcher.end)
        self.forget(before + after, "resync", OUTSIDE)

    def _put_aside(self, piece: Piece) -> None:
        if self.mode == ASIDE:
            self.forget([piece], *self.aside)
            return
        self.searcher.add(piece)
        if self.searcher.is_full():
            self.mode = SEARCH
            self.forget(self.searcher.drop_half(), "resync", OUTSIDE)

    def _lose(self, piece: Piece) -> None:
        """The size field of the next message is missing or impossible."""
        if self.header:
            self.note("resync", OUTSIDE, len(self.header), self.start_time)
            self.header = b""
        self.mode = SEARCH
        self.searcher.add(piece)

    def _go_on(self, view: memoryview | bytes, length: int, time: int, number: int, file: int) -> int:
        """Continue a message that began before; gives where the next one begins, or -1 where there is none."""
        offset = 0
        kept = len(view)
        if self.header:
            offset = 4 - len(self.header)
            if kept < offset:
                if kept == length:
                    self.header += bytes(view)
                else:
                    self._lose(Piece(view, length, time, number, file, False))
                return -1
            size: int = _SIZE(self.header + bytes(view[:offset]))[0]
            if size > LARGEST or (size < self.least and not (self.talk.raw and size >= 0)):
                self._lose(Piece(view, length, time, number, file, False))
                return -1
            self.header = b""
            self._begin(size, self.start_time, self.start_number)
        inside = min(self.left, length - offset)
        self._body(view[offset : offset + inside], inside, time, number, file)
        offset += inside
        return offset if offset < length and not self.left else -1

    def _begin(self, size: int, time: int, number: int) -> None:
        self.size = self.left = size
        self.start_time, self.start_number = time, number
        self.buffer = bytearray()
        self.broken = False
        self.walker = None
        self.decided = False

    def _body(self, view: memoryview | bytes, length: int, time: int, number: int, file: int) -> None:
        """The next bytes of a message that is not cut out of one segment."""
        kept = len(view)
        self.left -= length
        if kept < length and view is not _NOTHING:
            self.note("truncated", INSIDE, length - kept, time)
        if self.size > self.talk.keep:
            self._large(view, length)
        elif not self.broken:
            self.buffer += view
            self.broken = kept < length
        if not self.left:
            walker, self.walker = self.walker, None
            head = bytes(self.buffer)
            self.buffer = bytearray()
            self._emit(self.size, head, walker, self.start_time, time, self.start_number, number, file)

    def _large(self, view: memoryview | bytes, length: int) -> None:
        """The next bytes of a message that is too large to be kept: a walker eats it, or its head is all."""
        kept = len(view)
        if not self.decided:
            first = view[: WALK_HEAD - len(self.buffer)]
            self.buffer += first
            self.broken = len(first) == kept < length
            if len(self.buffer) < WALK_HEAD and not self.broken and self.left:
                return
            self.decided = True
            head = bytes(self.buffer)
            self.walker = self.talk.sink.begin_walk(self.is_request is True, self.size, head)
            if self.walker is not None:
                self.walker.feed(memoryview(head))
            view = view[len(first) :]
            length -= len(first)
            kept = len(view)
        if self.walker is not None:
            if kept:
                self.walker.feed(memoryview(view))
            if kept < length:
                self.walker.lost(length - kept)
        elif not self.broken:
            self.buffer += view[: max(0, self.talk.keep - len(self.buffer))]
            self.broken = kept < length

    def _emit(
        self, size: int, head: bytes, walker: Walker | None, start: int, end: int, first: int, last: int, file: int
    ) -> None:
        """A message is complete."""
        talk = self.talk
        if talk.raw and self._is_token(size, head):
            self.note("sasl", "SASL tokens", 4 + size, start)
            return
        self.frames += 1
        self.frame_bytes += 4 + size
        is_request = self.is_request is True
        if is_request:
            talk.request(head)
        else:
            talk.response(head)
        talk.sink.message(Message(is_request, size, head, walker, start, end, first, last, file))

    def _is_token(self, size: int, head: bytes) -> bool:
        """Whether a frame is a bare SASL token; the first request behind them ends their time."""
        talk = self.talk
        if self.is_request:
            if not is_request(head, size):
                return True
            talk.raw = False
            return False
        return len(head) < SMALLEST_RESPONSE or not talk.waits(_SIZE(head)[0])
