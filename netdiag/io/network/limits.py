"""What one run may cost: connection attempts per target, sockets, bytes and time spent on strangers' answers."""

import asyncio
import os
import resource
import time
from collections import deque
from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager

IN_FLIGHT = 4
_LONGEST_HOLD = 0.5
_SPREAD = 0.5
_SPARE_DESCRIPTORS = 64
_MOST_SOCKETS = 4096
_CHEAP_BYTES = 4 * 1024
_FREE_BYTES = 64 * 1024
_MOST_BYTES = 16 * 1024 * 1024
_MOST_SECONDS = 1.0


class Gate:
    """Lets a few connection attempts at a time through to one target.

    An attempt counts while it is unanswered, but never longer than a hold that shrinks with the number of attempts:
    all of them are under way within `_SPREAD` seconds, so a target that swallows everything delays nobody more.
    """

    def __init__(self) -> None:
        self._in_flight = 0
        self._seen = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._idle = asyncio.Event()
        self._idle.set()

    async def idle(self) -> None:
        """Wait until no attempt is unanswered."""
        await self._idle.wait()

    @asynccontextmanager
    async def attempt(self) -> AsyncIterator[None]:
        """Hold a slot for the block, or for as long as it may be held."""
        await self._enter()
        left = False

        def leave() -> None:
            nonlocal left
            if not left:
                left = True
                self._leave()

        hold = min(_LONGEST_HOLD, _SPREAD * IN_FLIGHT / self._seen)
        timer = asyncio.get_running_loop().call_later(hold, leave)
        try:
            yield
        finally:
            timer.cancel()
            leave()

    async def _enter(self) -> None:
        self._seen += 1
        self._idle.clear()
        if self._in_flight < IN_FLIGHT:
            self._in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise

    def _leave(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._in_flight -= 1
        if self._in_flight == 0:
            self._idle.set()


class Gates:
    """One gate for every target."""

    def __init__(self) -> None:
        self._gates: dict[Hashable, Gate] = {}

    def to(self, target: Hashable) -> Gate:
        """The gate of a target."""
        return self._gates.setdefault(target, Gate())


class Allowance:
    """What all the answers of a run together may take; honest brokers never come near it."""

    def __init__(self) -> None:
        self._bytes = 0
        self._seconds = 0.0

    @contextmanager
    def answer(self) -> Iterator["AnswerAllowance"]:
        """The share of one conversation, given back at its end."""
        share = AnswerAllowance(self)
        try:
            yield share
        finally:
            self._bytes -= share.counted

    def take(self, size: int) -> None:
        """Count bytes that are kept."""
        self._bytes += size

    def spend(self, seconds: float) -> None:
        """Count time that was spent on reading."""
        self._seconds += seconds

    @property
    def out_of_bytes(self) -> bool:
        """Whether too much is being kept."""
        return self._bytes > _MOST_BYTES

    @property
    def out_of_time(self) -> bool:
        """Whether too long was spent."""
        return self._seconds > _MOST_SECONDS


class AnswerAllowance:
    """The share of one conversation."""

    def __init__(self, whole: Allowance) -> None:
        self._whole = whole
        self._received = 0
        self.counted = 0

    def received(self, size: int) -> bool:
        """Count bytes that came, and tell whether they may be read."""
        self._received += size
        if self._received > _FREE_BYTES:
            self._whole.take(size)
            self.counted += size
        if self._received <= _CHEAP_BYTES:
            return True
        return not (self._whole.out_of_time or (self.counted and self._whole.out_of_bytes))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Time a block that reads."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._whole.spend(time.perf_counter() - begin)


@contextmanager
def many_sockets() -> Iterator[int]:
    """Raise the limit of open descriptors for the block as far as allowed; gives how many sockets fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_SOCKETS + 4 * _SPARE_DESCRIPTORS
    unlimited = resource.RLIM_INFINITY
    raised = wanted if hard == unlimited else min(hard, wanted)
    if soft != unlimited and raised > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    try:
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        used = len(os.listdir("/proc/self/fd"))
        free = _MOST_SOCKETS if limit == unlimited else limit - used - _SPARE_DESCRIPTORS
        # Name servers are asked on sockets, too.
        yield max(8, min(_MOST_SOCKETS, free * 2 // 3))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
