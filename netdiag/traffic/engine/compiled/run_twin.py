"""The engine in plain Python as the compiled one needs it: its connections can be handed over.

What it pairs goes where the kernels put their pairs, so that there is one order for all.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.compiled.handover import Handover, LaneConnection
from netdiag.traffic.engine.compiled.handover_pending import Chain, Kept, LanePairing
from netdiag.traffic.engine.compiled.lane_notes import ArrayLinker
from netdiag.traffic.engine.compiled.lane_state import PAIRS
from netdiag.traffic.engine.compiled.layout import NOTHING, OUTCOMES
from netdiag.traffic.engine.compiled.naming import Ends
from netdiag.traffic.engine.connection import Connection
from netdiag.traffic.engine.flows import Flows
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Segment
from netdiag.traffic.engine.run import Engine

_NOBODY = Ends(0, "", "", None)


class Contexts:
    """The contexts of pairs by number; those of connections that are over are forgotten when their pairs are."""

    def __init__(self) -> None:
        self.all: list[Ends] = []
        self._free: list[int] = []
        self._over: list[int] = []

    def of(self, connection: LaneConnection) -> int:
        """The number of the context that pairs of a connection have now."""
        context = Ends(connection.number, connection.client, connection.broker, connection.client_id)
        if connection.context != NOTHING and self.all[connection.context] == context:
            return connection.context
        self.end(connection)
        if self._free:
            connection.context = self._free.pop()
        else:
            connection.context = len(self.all)
            self.all.append(_NOBODY)
        self.all[connection.context] = context
        return connection.context

    def end(self, connection: LaneConnection) -> None:
        """The connection has no more pairs."""
        if connection.context != NOTHING:
            self._over.append(connection.context)
            connection.context = NOTHING

    def flushed(self) -> None:
        """Nobody asks any more for what is over."""
        for number in self._over:
            self.all[number] = _NOBODY
        self._free += self._over
        self._over = []


class LaneFlows(Flows):
    """Flows whose connections may be checked in; `make` gives such ones."""

    def __init__(
        self,
        make: Callable[[int, Segment], LaneConnection],
        end: Callable[[Connection], None],
        max_connections: int,
        handover: Handover,
    ) -> None:
        super().__init__(make, end, max_connections)
        self._handover = handover
        self.linker = ArrayLinker(handover.lane)

    def _sweep(self, now: int) -> None:
        self._sync()
        super()._sweep(now)

    def _shed(self) -> None:
        self._sync()
        super()._shed()

    def _sync(self) -> None:
        for connection in self._handover.connections:
            if connection is not None:
                self._handover.sync_time(connection)


class Twin(Engine):
    """The engine; `room` is called when there is none for another pair."""

    def __init__(
        self, options: EngineOptions, files: Sequence[str], handover: Handover, room: Callable[[], None]
    ) -> None:
        super().__init__(options, files)
        self.handover = handover
        self.contexts = Contexts()
        self.flows = self._flows = LaneFlows(self._open, self._close, options.max_connections, handover)
        self._room = room

    def _open(self, number: int, segment: Segment) -> LaneConnection:
        connection = LaneConnection(number, segment, self._files[segment.file], self.handover)
        if number % self._classes == self._class:
            without = partial(self._without, connection)
            connection.listen(LanePairing(partial(self._pair, connection), self._bodies, Chain(self.handover), without))
        return connection

    def _close(self, connection: Connection) -> None:
        assert isinstance(connection, LaneConnection)
        if connection.is_in:
            self.handover.check_out(connection, is_over=True)
        super()._close(connection)
        self.handover.unbind(connection)
        self.contexts.end(connection)

    def _pair(self, connection: LaneConnection, asked: Asked | None, answer: Answer | None, outcome: str) -> None:
        handover = self.handover
        if handover.lane.numbers[PAIRS] >= len(handover.lane.pairs):
            self._room()
        context = self.contexts.of(connection)
        asks, says = NOTHING, NOTHING
        if asked is not None:
            asks = self._reference(asked)
        if answer is not None:
            says = handover.hold(answer)
        at = int(handover.lane.numbers[PAIRS])
        handover.lane.pairs[at] = (asks, says, context, OUTCOMES.index(outcome))
        handover.lane.numbers[PAIRS] = at + 1

    def _without(self, connection: LaneConnection, count: int) -> None:
        assert isinstance(connection.pairing, LanePairing)
        connection.pairing.chain.give_up(count, self.contexts.of(connection), self._room)

    def _reference(self, asked: Asked) -> int:
        if not isinstance(asked.facts, Kept):
            return self.handover.hold(asked)
        del self.handover.kept[asked.facts.number]
        return asked.facts.number

    def emit_row(self, context: Ends, pair: tuple[Asked | None, Answer | None, str]) -> None:
        """Make rows of a pair, as the engine in plain Python does."""
        self._emit(context, *pair)  # type: ignore[arg-type]


Row = tuple[Any, ...]
