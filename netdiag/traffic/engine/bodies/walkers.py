"""Read a Produce request or a Fetch response that is too large to keep, while its bytes pass by.

The contract is `message.Walker`: pieces of any size, and counts of bytes that the capture does not have. `steps` asks
for a few bytes at a time, or to step over many. What is held besides the facts is less than 64 KB whatever passes, and
the facts are bounded, too. Where bytes are lost inside of records that were asked for, the rest of these records is
stepped over, as their length is known; anywhere else the message ends.
"""

from typing import Any, NamedTuple

from netdiag.kafka import protocol as wire
from netdiag.kafka.protocol import Direction
from netdiag.traffic.engine.bodies.facts import FAILED, TRUNCATED, RequestFacts, ResponseFacts
from netdiag.traffic.engine.bodies.steps import Impossible, Lost, Reader, Steps

WALKED = {(0, Direction.REQUEST), (1, Direction.RESPONSE), (78, Direction.RESPONSE)}


class BodyWalker:
    """A message on its way."""

    def __init__(self, reader: Reader, steps: Steps, header: int, made_of: "Made | None" = None) -> None:
        self._reader = reader
        self._steps: Steps | None = steps
        self._step_over = header
        self._wanted = 0
        self._carry = b""
        self._has_lost = False
        self._made_of = made_of
        # What the reader was given: bytes, None where it stepped over some, how many were there of lost ones.
        self._given: list[bytes | int | None] = []
        if not header:
            self._go_on(None)

    def __reduce__(self) -> tuple[Any, ...]:
        """A reader on its way cannot be stored, but made again: it gets once more what it was given."""
        if self._made_of is None:
            raise TypeError("what the reader was given was not kept")
        return made_again, (tuple(self._made_of), self._given, self._step_over, self._carry, self._has_lost)

    def feed(self, piece: memoryview) -> None:
        """The next bytes."""
        at, end = 0, len(piece)
        while self._steps is not None:
            if self._step_over:
                step = min(self._step_over, end - at)
                self._step_over -= step
                at += step
                if self._step_over:
                    return
                self._go_on(None)
                continue
            missing = self._wanted - len(self._carry)
            if end - at < missing:
                self._carry += bytes(piece[at:])
                return
            data = self._carry + bytes(piece[at : at + missing])
            at += missing
            self._carry = b""
            self._go_on(data)

    def lost(self, count: int) -> None:
        """The next `count` bytes are not in the capture."""
        self._has_lost = self._has_lost or count > 0
        while self._steps is not None and count:
            if self._step_over:
                step = min(self._step_over, count)
                self._step_over -= step
                count -= step
                if not self._step_over:
                    self._go_on(None)
                continue
            # the reader steps over what is left, or gives up
            self._fail(len(self._carry))

    def ended(self) -> RequestFacts | ResponseFacts:
        """The facts; to be called when no more bytes of the message are to come."""
        facts = self._reader.facts
        if self._steps is not None:
            self._stop(TRUNCATED)
        elif self._has_lost and facts.decoded != FAILED:
            facts.decoded = TRUNCATED
        return facts

    def repeat(self, given: list[bytes | int | None], step_over: int, carry: bytes, has_lost: bool) -> None:
        """Be where another one was."""
        for each in given:
            if isinstance(each, int):
                self._fail(each)
            else:
                self._go_on(each)
        self._step_over, self._carry, self._has_lost = step_over, carry, has_lost

    def _go_on(self, data: bytes | None) -> None:
        """Give the reader what it has asked for."""
        assert self._steps is not None
        if self._made_of is not None:
            self._given.append(data)
        try:
            self._asked(next(self._steps) if data is None else self._steps.send(data))
        except StopIteration:
            self._steps = None
            self._reader.finish()
        except Impossible:
            self._stop(FAILED)

    def _fail(self, there: int) -> None:
        """Tell the reader that what it has asked for is lost, but for so many bytes."""
        assert self._steps is not None
        if self._made_of is not None:
            self._given.append(there)
        self._reader.position -= self._wanted - there
        self._carry = b""
        try:
            self._asked(self._steps.throw(Lost()))
        except Lost:
            self._stop(TRUNCATED)

    def _asked(self, count: int) -> None:
        """The reader wants so many bytes, or (below 0) to step over so many."""
        self._step_over, self._wanted = (-count, 0) if count < 0 else (0, count)
        self._reader.position += abs(count)

    def _stop(self, decoded: str) -> None:
        if self._steps is not None:
            self._steps.close()
        self._steps = None
        self._reader.stop(decoded)


class Made(NamedTuple):
    """What a walker is made of."""

    api_key: int
    api_version: int
    direction: str
    header: int
    size: int
    wanted: tuple[str, ...]


def walker(
    api_key: int,
    api_version: int,
    direction: Direction,
    header: int,
    size: int,
    wanted: frozenset[str],
    *,
    lasting: bool = False,
) -> BodyWalker | None:
    """A walker for a message of `size` bytes with a header of `header`; None where nobody walks such a one.

    `lasting`: it can be stored, for which it holds on to what it has read.
    """
    if (api_key, direction) not in WALKED or api_version not in wire.api_versions(api_key):
        return None
    reader = Reader(api_key, direction, size - header, wanted)
    made_of = Made(api_key, api_version, direction.value, header, size, tuple(sorted(wanted))) if lasting else None
    return BodyWalker(reader, reader.message(wire.layout(api_key, api_version, direction)), header, made_of)


def made_again(
    made_of: tuple[Any, ...], given: list[bytes | int | None], step_over: int, carry: bytes, has_lost: bool
) -> BodyWalker:
    """A walker that was stored, at the place where it was."""
    it = Made._make(made_of)
    direction = Direction(it.direction)
    reader = Reader(it.api_key, direction, it.size - it.header, frozenset(it.wanted))
    steps = reader.message(wire.layout(it.api_key, it.api_version, direction))
    made = BodyWalker(reader, steps, max(1, it.header), it)
    made.repeat(given, step_over, carry, has_lost)
    return made
