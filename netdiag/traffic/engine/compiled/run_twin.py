"""The engine in plain Python as the compiled one needs it: its connections can be handed over.

What it pairs goes where the kernels put their pairs, so that there is one order for all.
"""

import heapq
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np

from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.compiled.births import Births
from netdiag.traffic.engine.compiled.contexts import Contexts
from netdiag.traffic.engine.compiled.ended_rows import take_rows
from netdiag.traffic.engine.compiled.ends import Ends
from netdiag.traffic.engine.compiled.handover import Handover, LaneConnection
from netdiag.traffic.engine.compiled.handover_pending import Chain, Kept, LanePairing
from netdiag.traffic.engine.compiled.lane_notes import ArrayLinker
from netdiag.traffic.engine.compiled.lane_state import PAIRS, Array
from netdiag.traffic.engine.compiled.lane_wishes import ENDINGS
from netdiag.traffic.engine.compiled.layout import NOTHING, OUTCOMES
from netdiag.traffic.engine.connection import Connection
from netdiag.traffic.engine.flows import CLOSED_FOR, IDLE_FOR, SWEEP_EVERY, Flows, Key
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Segment
from netdiag.traffic.engine.run import Engine

MOST_OBJECTS = EngineOptions().max_connections
"""So many connections are held that are objects in Python, if more may be held of others."""


class _Sides(dict[Key, tuple[Connection, int]]):
    """Connections by addresses; `find` has those made that the kernels have alone."""

    def __init__(self, find: Callable[[Key], None]) -> None:
        super().__init__()
        self._find = find

    def get(self, key: Key, default: Any = None) -> Any:
        """As that of a dict."""
        if key not in self:
            self._find(key)
        return super().get(key, default)


class _Live(dict[int, Connection]):
    """Connections by number, likewise."""

    def __init__(self, find: Callable[[int], None]) -> None:
        super().__init__()
        self._find = find

    def get(self, number: int, default: Any = None) -> Any:
        """As that of a dict."""
        if number not in self:
            self._find(number)
        return super().get(number, default)


class LaneFlows(Flows):
    """Flows whose connections may be checked in, or may never have come out; `make` gives such ones.

    `room` is called when there is none for another pair. `tells_losses`: what is no message is to be told.
    """

    def __init__(
        self,
        make: Callable[[int, Segment], LaneConnection],
        end: Callable[[Connection], None],
        max_connections: int,
        handover: Handover,
        room: Callable[[], None],
        *,
        tells_losses: bool,
    ) -> None:
        super().__init__(make, end, max_connections)
        self._handover = handover
        self._room = room
        self._tells_losses = tells_losses
        self.linker = ArrayLinker(handover.lane)
        self.births = Births(handover, make, self._take)
        self.sides = _Sides(self._find)
        self.live = _Live(self._find_number)
        self.contexts: Contexts | None = None

    def give(self, slot: int) -> LaneConnection:
        """Have one of those that the kernels have alone."""
        assert self.contexts is not None
        self.contexts.make_room()
        self.contexts.fill(self.births.keys)
        context = self._handover.lane.connections["context"][slot : slot + 1]
        return self.births.give(slot, self.contexts.client_ids(context)[0])

    def most_born(self) -> int:
        """How many connections there may be that the kernels have alone."""
        return self._max - len(self.live)

    def finish(self) -> None:
        """As `Flows.finish`."""
        self._end_all(list(self.live.values()), self.births.slots())

    def _count(self) -> int:
        # One that is an object takes about ten times as much as one that is not.
        return self._max + 1 if len(self.live) > MOST_OBJECTS else len(self.live) + len(self.births)

    def _find(self, key: Key) -> None:
        slot = self.births.of_key(key)
        if slot >= 0:
            self.give(slot)

    def _find_number(self, number: int) -> None:
        slot = self.births.of_number(number)
        if slot >= 0:
            self.give(slot)

    def _take(self, connection: LaneConnection, key: Key) -> None:
        back = (key[1], key[0], key[3], key[2], key[4])
        self.live[connection.number] = connection
        self.sides[key] = (connection, 0)
        self.sides[back] = (connection, 1)
        connection.keys = (key, back)

    def _sweep(self, now: int) -> None:
        self._sync()
        self.next_sweep = now + SWEEP_EVERY
        over = [c for c in self.live.values() if c.last_time < now - (CLOSED_FOR if c.is_closed else IDLE_FOR)]
        self._end_all(over, self.births.expired(now))

    def _shed(self) -> None:
        self._sync()
        slots, lane = self.births.slots(), self._handover.lane
        born = zip(
            lane.connections["last_time"][slots].tolist(),
            lane.births["order"][slots].tolist(),
            slots.tolist(),
            strict=True,
        )
        known = ((c.last_time, _order(c), c) for c in self.live.values())
        silent = heapq.nsmallest(max(1, self._max // 10), chain(born, known), key=itemgetter(0, 1))
        for are_born, group in groupby((which for _, _, which in silent), lambda which: isinstance(which, int)):
            if are_born:
                self._end_born(np.array([*group], "i8"))
                continue
            for connection in group:
                self._forget(connection)

    def _end_all(self, over: list[Connection], born: Array) -> None:
        """These are over, in the order in which they began."""
        orders = self._handover.lane.births["order"][born]
        done = 0
        for connection in sorted(over, key=_order):
            until = int(np.searchsorted(orders, _order(connection)))
            self._end_born(born[done:until])
            done = until
            self._forget(connection)
        self._end_born(born[done:])

    def _end_born(self, slots: Array) -> None:
        done = 0
        for at in self.births.with_losses(slots).tolist() if self._tells_losses else ():
            self.births.end(slots[done:at], self._room)
            self._forget(self.give(int(slots[at])))
            done = at + 1
        self.births.end(slots[done:], self._room)

    def _sync(self) -> None:
        for connection in self._handover.connections:
            if connection is not None:
                self._handover.sync_time(connection)


def _order(connection: Connection) -> int:
    assert isinstance(connection, LaneConnection)
    return connection.order


class Twin(Engine):
    """The engine; `room` is called when there is none for another pair."""

    def __init__(
        self, options: EngineOptions, files: Sequence[str], handover: Handover, room: Callable[[], None]
    ) -> None:
        super().__init__(options, files)
        self.handover = handover
        self.contexts = Contexts(handover)
        tells_losses = "losses" in options.tables
        most = options.max_connections
        flows = LaneFlows(self._open, self._close, most, handover, room, tells_losses=tells_losses)
        self.flows = self._flows = flows
        flows.contexts = self.contexts
        self._room = room

    def _open(self, number: int, segment: Segment) -> LaneConnection:
        connection = LaneConnection(number, segment, self._files[segment.file], self.handover)
        if number % self._classes == self._class:
            without = partial(self._without, connection)
            connection.listen(LanePairing(partial(self._pair, connection), self._bodies, Chain(self.handover), without))
        return connection

    def take_ended(self) -> None:
        """Make rows of the connections that the kernels had alone and that are over."""
        lane = self.handover.lane
        count = lane.wishes.figures[ENDINGS]
        if count:
            names, places = [*self.handover.interfaces], self._options.places
            keys = self.flows.births.keys
            self.contexts.make_room()
            self.contexts.fill(keys)
            ids = self.contexts.client_ids(lane.wishes.ended["context"][:count])
            self._rows["connections"] += take_rows(lane.wishes, keys, ids, self._files, names, places, self._is_wanted)

    def _close(self, connection: Connection) -> None:
        assert isinstance(connection, LaneConnection)
        self.take_ended()
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
