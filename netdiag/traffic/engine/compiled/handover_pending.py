"""The requests that wait, for the twin: they stay in the arrays while it has their connection.

So a hand-over costs the same however many they are, and an object is made of what the twin takes out.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from netdiag.traffic.engine.assemble import Asked
from netdiag.traffic.engine.bodies.facts import RequestFacts
from netdiag.traffic.engine.compiled.lane_pending import before, give_up, latest
from netdiag.traffic.engine.compiled.lane_state import FREE_PENDING, PAIRS, Lane, more_pending
from netdiag.traffic.engine.compiled.layout import FROM_TWIN, NOTHING
from netdiag.traffic.engine.headers import RequestHeader, header_version
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.pairing import PRODUCE, Pairing
from netdiag.traffic.engine.pending import Pending
from netdiag.traffic.engine.talk import WAITING


class Kept(RequestFacts):
    """Facts that are in the arrays, as message `number`; all that the twin needs to know of them is `acks`."""

    number: int = NOTHING


class Arrays(Protocol):
    """What of the hand-over the chains need; `kept`: facts that the twin has taken out, by number."""

    lane: Lane
    held: list[Any]
    kept: dict[int, Kept]

    def hold(self, thing: Any) -> int:
        """Keep what a pair refers to; gives the reference."""


class Chain(Pending):
    """A chain of entries from `first` to `last`, `count` of them; of no worth while the connection is checked in.

    `is_unsorted` is what `latest` found: an id is not larger than that of the request before.
    """

    __slots__ = ("_arrays", "count", "first", "is_unsorted", "last")

    def __init__(self, arrays: Arrays) -> None:
        # The twin's own queue stays unmade: it would be the largest part of a connection that says little.
        self._arrays = arrays
        self.first = self.last = NOTHING
        self.count = 0
        self.is_unsorted = False

    def __len__(self) -> int:
        return self.count

    def __contains__(self, correlation_id: int) -> bool:
        return self.before(correlation_id) is not None

    def append(self, asked: Asked) -> None:
        """As the twin's."""
        arrays = self._arrays
        at = int(arrays.lane.numbers[FREE_PENDING])
        if at == NOTHING:
            arrays.lane = more_pending(arrays.lane)
            at = int(arrays.lane.numbers[FREE_PENDING])
        pending = arrays.lane.pending
        arrays.lane.numbers[FREE_PENDING] = pending["next"][at]
        header = asked.header
        silent = header.api_key == PRODUCE and asked.facts.acks == 0
        pending[at] = (arrays.hold(asked), header.correlation_id, _api(header), NOTHING, silent)
        if self.count:
            pending["next"][self.last] = at
        else:
            self.first = at
        self.last = at
        self.count += 1

    def popleft(self) -> Asked:
        """As the twin's."""
        arrays = self._arrays
        pending, numbers = arrays.lane.pending, arrays.lane.numbers
        at = self.first
        number, correlation_id, api, self.first, silent = pending[at].item()
        pending["asked"][at], pending["next"][at] = NOTHING, numbers[FREE_PENDING]
        numbers[FREE_PENDING] = at
        self.count -= 1
        if number > FROM_TWIN:
            return self._taken(number, correlation_id, api, bool(silent))
        asked: Asked = arrays.held[FROM_TWIN - number]
        arrays.held[FROM_TWIN - number] = None
        return asked

    def before(self, correlation_id: int) -> int | None:
        """As the twin's."""
        if not self.count:
            return None
        count: int = before(self._arrays.lane.pending, self.first, correlation_id)
        return None if count < 0 else count

    def api(self, correlation_id: int) -> tuple[int, int] | None:
        """As the twin's."""
        at, pending = self.first if self.count else NOTHING, self._arrays.lane.pending
        while at != NOTHING:
            _, known, api, following, _ = pending[at].item()
            if known == correlation_id and api >= 0:
                return api >> 16, api & 0xFFFF
            at = following
        return None

    def latest(self) -> tuple[list[tuple[int, int]], bool]:
        """Id and api of the last ones, as `Talk.waiting` has them; and whether all are of ordinary apis."""
        found = np.zeros((WAITING, 2), "i8")
        first = self.first if self.count else NOTHING
        strange, unsorted = latest(self._arrays.lane.pending, first, self.count, found)
        self.is_unsorted = unsorted > 0
        found = found[: self.count]
        return list(zip(found[:, 0].tolist(), found[:, 1].tolist(), strict=True)), not strange

    def give_up(self, count: int, context: int, room: Callable[[], None]) -> None:
        """Pair the oldest with nothing; `room` is called when there is none for another pair."""
        while count:
            lane = self._arrays.lane
            if lane.numbers[PAIRS] >= len(lane.pairs):
                room()
                continue
            given, self.first = give_up(lane.pending, lane.numbers, lane.pairs, self.first, count, context)
            self.count -= given
            count -= given

    def files(self) -> set[int]:
        """Nobody asks where a connection can be in the arrays."""
        raise NotImplementedError

    def _taken(self, number: int, correlation_id: int, api: int, silent: bool) -> Asked:
        key, version = api >> 16, api & 0xFFFF
        facts = self._arrays.kept[number] = Kept()
        facts.number = number
        if silent:
            facts.acks = 0
        header = RequestHeader(key, version, correlation_id, None, None, header_version(key, version) is not None)
        return Asked(header, Message(True, 0, b"", None, 0, 0, 0, 0, 0), facts)


class LanePairing(Pairing):
    """A pairing over a chain; `without` pairs so many of its requests with nothing."""

    __slots__ = ("_without", "chain")

    def __init__(self, emit: Any, bodies: Any, chain: Chain, without: Callable[[int], None]) -> None:
        super().__init__(emit, bodies)
        self.pending = self.chain = chain
        self._without = without

    def _give_up(self, count: int) -> None:
        if count:
            self._without(count)


def _api(header: RequestHeader) -> int:
    key, version = header.api_key, header.api_version
    return NOTHING if key is None or version is None or key < 0 or version < 0 else key << 16 | version
