"""One direction of a connection in order, by its TCP sequence numbers.

Sequence numbers are unwrapped to positions that only grow. What is captured before an earlier piece is held until the
piece comes or is proven not to be in the capture; where bytes came twice, the first copy counts.
"""

from bisect import bisect_right
from typing import NamedTuple

from netdiag.traffic.engine.frames import Framer
from netdiag.traffic.engine.packet import Segment

MASK = 0xFFFFFFFF
HALF = 0x80000000
FAR = 0x40000000
"""The largest window of TCP: a segment farther off than this belongs to something else."""

HOLD_BYTES = 4 << 20
HOLD_PIECES = 2048
PATIENCE_PACKETS = 16
PATIENCE_TIME = 20_000_000
"""What was acknowledged but not captured may still come, when the capture swapped packets: for so long."""

UNANSWERED_TIME = 1_000_000_000
"""How long a hole may be filled where nothing of the other side, so no acknowledgement, is captured."""

REMEMBERED = 32
SAME_PACKET = 1_000_000
"""Nanoseconds within which the same packet is seen a second time, for example by `tcpdump -i any`."""

REORDERED = 3_000_000
"""Nanoseconds within which a late segment counts as swapped, not as sent again (Wireshark's limit as well)."""


class Held(NamedTuple):
    """A piece of the stream that waits for the ones before it; `kept` may be shorter than `length`.

    `answers`: the position of the other direction that its sender had received: what comes there goes first.
    """

    position: int
    kept: memoryview
    length: int
    time: int
    number: int
    file: int
    answers: int


Copy = tuple[int, int, int, tuple[tuple[str, int], ...]]
"""What a packet is known again by: length, time, identification, and the interfaces and files that it was seen in."""


class Delivery:
    """Takes the segments of one direction, gives their bytes to the framer in order and counts what happens."""

    __slots__ = (
        "acked",
        "duplicates",
        "evidence",
        "fin",
        "first_time",
        "framer",
        "held",
        "held_bytes",
        "keep_alives",
        "last_time",
        "lost_bytes",
        "next",
        "next32",
        "older",
        "out_of_order",
        "packets",
        "place",
        "proven_at",
        "recent",
        "retransmissions",
        "rst",
        "start",
        "stray_bytes",
        "strays",
        "waited",
        "window",
        "zero_windows",
    )

    def __init__(self, framer: Framer) -> None:
        self.framer = framer
        self.start = self.next = self.next32 = -1
        self.acked = -1
        self.held: list[Held] = []
        self.held_bytes = 0
        self.evidence: tuple[int, int, int] | None = None
        self.proven_at: int | None = None
        self.waited = 0
        self.recent: dict[int, Copy] = {}
        self.older: dict[int, Copy] = {}
        self.place: tuple[str, int] | None = None
        self.packets = self.duplicates = self.retransmissions = self.out_of_order = 0
        self.keep_alives = self.zero_windows = self.lost_bytes = self.strays = self.stray_bytes = 0
        self.first_time = self.last_time = -1
        self.window = -1
        self.fin = self.rst = False

    def files(self) -> set[int]:
        """The files that what is to come may name."""
        found = {piece.file for piece in self.held} | {piece.file for piece in self.framer.searcher.pieces}
        if self.evidence is not None:
            found.add(self.evidence[2])
        if self.place is not None:
            found.add(self.place[1])
        return found

    def begin(self, sequence: int) -> None:
        """The first byte of the stream has this sequence number."""
        self.start = self.next = self.next32 = sequence

    def position(self, sequence: int) -> int:
        """The position that a sequence number stands for: the one nearest to what comes next."""
        distance = (sequence - self.next32) & MASK
        return self.next + (distance if distance < HALF else distance - HALF - HALF)

    def is_copy(self, segment: Segment, key: int) -> bool:
        """Whether a packet was captured before, at another place or a moment ago; whether or not, it is remembered."""
        here = (segment.interface, segment.file)
        known = self.recent.get(key) or self.older.get(key)
        if known is not None and known[0] == segment.length:
            length, time, identification, places = known
            moment = -SAME_PACKET < segment.time - time < SAME_PACKET
            if here not in places or (moment and identification == segment.identification):
                self.recent[key] = (length, time, identification, (*places[-7:], here))
                return True
        self.remember(key, segment.length, segment.time, segment.identification, here)
        return False

    def remember(self, key: int, length: int, time: int, identification: int, here: tuple[str, int]) -> None:
        """Keep what a packet would be known again by; of old ones nothing is kept."""
        recent = self.recent
        if len(recent) >= REMEMBERED:
            self.older = recent
            self.recent = recent = {}
        recent[key] = (length, time, identification, (here,))

    def data(self, segment: Segment, position: int, answers: int, wait: bool) -> None:
        """Payload that is not simply the next: old, overlapping, too early, or what fills a hole.

        `wait`: what it answers is missing, so that it cannot be delivered yet even if it is the next.
        """
        end = position + segment.length
        payload = segment.payload
        if end <= self.next:
            return
        if position < self.next:
            cut = self.next - position
            payload, position = payload[cut:], self.next
        piece = Held(position, payload, end - position, segment.time, segment.number, segment.file, answers)
        if position == self.next and not self.held and not wait:
            self.deliver(piece)
            return
        if self.held and position < self.held[-1].position + self.held[-1].length:
            swapped = self.evidence is None or segment.time - self.evidence[0] <= REORDERED
            self.out_of_order += swapped
            self.retransmissions += not swapped
        if self.evidence is None:
            self.evidence = (segment.time, segment.number, segment.file)
        self._hold(piece)

    def deliver(self, piece: Held) -> None:
        """Give the framer the next piece."""
        self.next = piece.position + piece.length
        self.next32 = self.next & MASK
        self.framer.take(piece.kept, piece.length, piece.time, piece.number, piece.file)

    def is_next(self) -> bool:
        """Whether the first held piece is the next."""
        return bool(self.held) and self.held[0].position == self.next

    def step(self) -> None:
        """Deliver the first held piece."""
        held = self.held
        piece = held.pop(0)
        self.held_bytes -= len(piece.kept)
        self.deliver(piece)
        self.evidence = (held[0].time, held[0].number, held[0].file) if held else None
        if not self.is_proven:
            self.proven_at = None

    def acknowledged(self, position: int, segment: Segment) -> None:
        """The other side has everything up to here, so the capture should have it too."""
        if position <= self.acked:
            return
        self.acked = position
        if self.evidence is None and position > self.next + 1:
            self.evidence = (segment.time, segment.number, segment.file)
        if self.proven_at is None and self.is_proven:
            self.proven_at = segment.time
            self.waited = 0

    @property
    def gap_end(self) -> int:
        """Where the hole ends that the next bytes are missing in; the next position where there is none.

        A position acknowledged just one byte further is that of a FIN, not of a byte.
        """
        end = self.held[0].position if self.held else self.next
        if self.acked > self.next + 1 and (self.acked < end or not self.held):
            end = self.acked
        return end

    @property
    def is_proven(self) -> bool:
        """Whether there is a hole, and the other side has acknowledged what is missing in it."""
        return self.acked >= self.gap_end > self.next

    @property
    def is_full(self) -> bool:
        """Whether no more can be held."""
        return self.held_bytes > HOLD_BYTES or len(self.held) > HOLD_PIECES

    def is_given_up(self, time: int, alone: bool) -> bool:
        """Whether the hole has waited long enough. `alone`: nothing of the other side was ever captured."""
        if self.gap_end <= self.next:
            return False
        if self.is_full:
            return True
        if self.is_proven:
            if self.proven_at is None:
                self.proven_at, self.waited = time, 0
            return self.waited > PATIENCE_PACKETS or abs(time - self.proven_at) > PATIENCE_TIME
        return alone and self.evidence is not None and abs(time - self.evidence[0]) > UNANSWERED_TIME

    def give_up(self) -> None:
        """The bytes up to the next held piece, or up to what was acknowledged, are not in the capture."""
        end = self.gap_end
        length = end - self.next
        if length > 0:
            time, number, file = self.evidence or (self.last_time, 0, self.place[1] if self.place else 0)
            self.lost_bytes += length
            self.next = end
            self.next32 = end & MASK
            self.framer.gap(length, time, number, file)

    def _hold(self, piece: Held) -> None:
        """Keep a piece, cut down to what no held piece covers."""
        held = self.held
        at = bisect_right(held, piece.position, key=_position)
        if at and held[at - 1].position + held[at - 1].length > piece.position:
            covered = held[at - 1].position + held[at - 1].length - piece.position
            if covered >= piece.length:
                return
            piece = _behind(piece, covered)
        while at < len(held) and held[at].position < piece.position + piece.length:
            other = held[at]
            free = other.position - piece.position
            if free > 0:
                self._insert(at, piece._replace(kept=piece.kept[:free], length=free))
                at += 1
            rest = piece.length - free - other.length
            if rest <= 0:
                return
            piece = _behind(piece, piece.length - rest)
            at += 1
        self._insert(at, piece)

    def _insert(self, at: int, piece: Held) -> None:
        """Put a piece at its place; copied, so that a large buffer is not kept for a small piece of it."""
        self.held.insert(at, piece._replace(kept=memoryview(bytes(piece.kept))))
        self.held_bytes += len(piece.kept)


def _position(piece: Held) -> int:
    return piece.position


def _behind(piece: Held, count: int) -> Held:
    """What is left of a piece behind its first bytes."""
    return piece._replace(position=piece.position + count, kept=piece.kept[count:], length=piece.length - count)
