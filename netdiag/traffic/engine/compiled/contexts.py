"""The contexts of pairs by number: which connection a pair is of.

Those of connections that are over are forgotten when their pairs are. Which numbers are free, and which will be, stands
in the arrays of the lane: kernels take and give, too.
"""

import numpy as np

from netdiag.traffic.engine.compiled.arenas import Numbers
from netdiag.traffic.engine.compiled.ends import CONTEXT, Connections, Ends, ends_of
from netdiag.traffic.engine.compiled.handover import Handover, LaneConnection
from netdiag.traffic.engine.compiled.lane_state import CONTEXTS, FRESHES, OVER, longer, more_contexts
from netdiag.traffic.engine.compiled.lane_wishes import MOST_CLIENT_ID
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.compiled.sorting_out import distinct

_NOBODY = Ends(0, "", "", None)
_OF_KEYS = ("source", "destination", "source_port", "destination_port", "width")
_OF_FRESH = ("number", "client_id_length", "client_id")


class Contexts:
    """Those of one reading."""

    def __init__(self, handover: Handover) -> None:
        self._handover = handover
        self._rows: Numbers = np.zeros(0, CONTEXT)
        self._told: dict[int, Ends] = {}
        self._stamp = 0
        self._places = np.zeros(0, np.int32)

    def __getitem__(self, number: int) -> Ends:
        told = self._told.get(number)
        if told is not None:
            return told
        return ends_of(self._rows[number]) if self._rows["stamp"][number] else _NOBODY

    def of(self, connection: LaneConnection) -> int:
        """The number of the context that pairs of a connection have now."""
        context = Ends(connection.number, connection.client, connection.broker, connection.client_id)
        if connection.context != NOTHING and self[connection.context] == context:
            return connection.context
        self.end(connection)
        self.make_room()
        lane = self._handover.lane
        lane.numbers[CONTEXTS] -= 1
        number = connection.context = int(lane.contexts[lane.numbers[CONTEXTS]])
        self._told[number] = context
        self._stamp += 1
        self._rows["stamp"][number], self._rows["width"][number] = self._stamp, 0
        return number

    def end(self, connection: LaneConnection) -> None:
        """The connection has no more pairs."""
        if connection.context != NOTHING:
            lane = self._handover.lane
            lane.over[lane.numbers[OVER]] = connection.context
            lane.numbers[OVER] += 1
            connection.context = NOTHING

    def client_ids(self, numbers: Numbers) -> list[str | None]:
        """Of those that the kernels gave away and that were written down; None of no context."""
        rows = self._rows[numbers]
        texts, lengths = rows["client_id"].tobytes().decode("latin-1"), rows["client_id_length"]
        return [
            None if length < 0 else texts[at * MOST_CLIENT_ID : at * MOST_CLIENT_ID + length]
            for at, length in enumerate(np.where(numbers < 0, NOTHING, lengths).tolist())
        ]

    def make_room(self) -> None:
        """Have a free number."""
        if not self._handover.lane.numbers[CONTEXTS]:
            self._handover.lane = more_contexts(self._handover.lane)
        most = len(self._handover.lane.contexts)
        if most > len(self._rows):
            self._rows = longer(self._rows, most)
            self._places = np.full(most, NOTHING, np.int32)

    def fill(self, keys: Numbers) -> None:
        """Write down those that the kernels gave away; `keys`: the pairs of addresses by number."""
        numbers = self._handover.lane.numbers
        count = int(numbers[FRESHES])
        if not count:
            return
        numbers[FRESHES] = 0
        fresh = self._handover.lane.fresh[:count]
        at, pairs = fresh["context"], keys[fresh["key"]]
        for name in _OF_KEYS:
            self._rows[name][at] = pairs[name]
        for name in _OF_FRESH:
            self._rows[name][at] = fresh[name]
        self._rows["stamp"][at] = np.arange(self._stamp + 1, self._stamp + 1 + count)
        self._stamp += count

    def connections(self, pairs: Numbers) -> Connections:
        """Those of pairs, as they are now."""
        indices, places = np.empty(len(pairs), np.int32), np.empty(len(pairs), np.int32)
        indices = indices[: distinct(pairs, self._places, indices, places)]
        # Whole rows at once, which numpy would copy field by field.
        words = self._rows.view("u8").reshape(-1, CONTEXT.itemsize // 8)
        rows = words.take(indices, axis=0).reshape(-1).view(CONTEXT)
        told = {index: self._told[index] for index in indices[rows["width"] == 0].tolist()} if self._told else {}
        return Connections(indices, places, rows, told)

    def flushed(self) -> None:
        """Nobody asks any more for what is over."""
        lane = self._handover.lane
        count, free = int(lane.numbers[OVER]), int(lane.numbers[CONTEXTS])
        over = lane.over[:count]
        self._rows["stamp"][over] = 0
        for number in self._told.keys() & over.tolist():
            del self._told[number]
        lane.contexts[free : free + count] = over
        lane.numbers[CONTEXTS] += count
        lane.numbers[OVER] = 0
