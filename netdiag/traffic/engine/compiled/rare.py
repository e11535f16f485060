"""Pairs that Python has to look at: what they teach, their rows of rare tables, and themselves as records.

Rare are the rows of `group_events`, `endpoints` and `leaders`: their makers are those of the plain engine.
"""

from typing import Any, Protocol

from netdiag.traffic.engine import details
from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.compiled.arenas import Store
from netdiag.traffic.engine.compiled.ends import Ends
from netdiag.traffic.engine.compiled.layout import FROM_TWIN, NOTHING
from netdiag.traffic.engine.compiled.naming import Naming
from netdiag.traffic.engine.compiled.read_back import answer_of, asked_of
from netdiag.traffic.engine.compiled.repeating import RepeatingBodies, Said, what_is_said
from netdiag.traffic.engine.compiled.side import Shape, Side
from netdiag.traffic.engine.details import Exchange
from netdiag.traffic.engine.options import EngineOptions


class Held(Protocol):
    """Messages of the plain engine by number."""

    def __getitem__(self, number: int, /) -> Asked | Answer: ...


TABLES = ("group_events", "endpoints", "leaders")
# So many pairs of short messages are known again.
_MOST = 256


class Rare:
    """Looks at one such pair after the other; `rows` are those of the rare tables since they were taken."""

    def __init__(self, options: EngineOptions, naming: Naming) -> None:
        self._options = options
        self._naming = naming
        self._bodies = RepeatingBodies(options.tables)
        self._shapes: dict[Said, tuple[Shape | None, Shape | None]] = {}
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES if name in options.tables}

    def look(
        self, store: Store, side: Side, pair: tuple[int, int], held: Held, ends: Ends, serial: int
    ) -> tuple[int, int]:
        """Take in a pair, the one of that number; gives its numbers in `side`."""
        # Where rows of rare tables are wanted, each pair has its own.
        said = None if self.rows else what_is_said(store, pair)
        shapes = None if said is None else self._shapes.get(said)
        if shapes is not None:
            # What such a pair teaches was learned.
            return _put(side, store, pair[0], shapes[0]), _put(side, store, pair[1], shapes[1])
        numbers = self._look(store, side, pair, held, ends, serial)
        if said is not None:
            if len(self._shapes) >= _MOST:
                self._shapes.clear()
            self._shapes[said] = _shape(side, numbers[0]), _shape(side, numbers[1])
        return numbers

    def forget(self) -> None:
        """Texts are counted anew."""
        self._shapes.clear()

    def _look(
        self, store: Store, side: Side, pair: tuple[int, int], held: Held, ends: Ends, serial: int
    ) -> tuple[int, int]:
        asked, answer = self._read(store, pair, held)
        said = None if answer is None else answer.facts
        if said is not None and said.names:
            self._naming.learn(said.names, serial)
        if asked is not None and asked.facts.names:
            self._naming.learn(asked.facts.names, serial)
        if asked is not None and self.rows:
            self._add(asked, answer, ends)
        return (
            NOTHING if asked is None else side.asked(asked) if _is_new(store, pair[0]) else pair[0],
            NOTHING if answer is None else side.answer(answer) if _is_new(store, pair[1]) else pair[1],
        )

    def _read(self, store: Store, pair: tuple[int, int], held: Held) -> tuple[Asked | None, Answer | None]:
        asked: Any = None
        answer: Any = None
        if pair[0] != NOTHING:
            asked = held[FROM_TWIN - pair[0]] if pair[0] <= FROM_TWIN else asked_of(store, pair[0], self._bodies)
        if pair[1] != NOTHING:
            twin = pair[1] <= FROM_TWIN
            answer = held[FROM_TWIN - pair[1]] if twin else answer_of(store, pair[1], self._bodies, asked)
        return asked, answer

    def _add(self, asked: Asked, answer: Answer | None, ends: Ends) -> None:
        header, message, facts = asked
        said = None if answer is None else answer.facts
        if header.api_key is None or header.correlation_id is None or not self._is_wanted(asked, answer, ends):
            return
        exchange = Exchange(
            message.end_time,
            None if answer is None else answer.message.end_time,
            ends.number,
            ends.client,
            ends.broker,
            header.correlation_id,
            header.api_key,
            header.client_id,
            facts,
            said,
        )
        ids = self._naming.topic_ids
        if "group_events" in self.rows and header.api_key in details.GROUP_KEYS:
            self.rows["group_events"].append(details.group_event_row(exchange, ids))
        if "endpoints" in self.rows:
            self.rows["endpoints"] += details.endpoint_rows(exchange)
        if "leaders" in self.rows:
            self.rows["leaders"] += details.leader_rows(exchange, ids)

    def _is_wanted(self, asked: Asked, answer: Answer | None, ends: Ends) -> bool:
        options = self._options
        if not (options.clients or options.brokers or options.topics):
            return True
        if options.clients and options.clients.isdisjoint((asked.header.client_id or "", *_with_host(ends.client))):
            return False
        if options.brokers and options.brokers.isdisjoint(_with_host(ends.broker)):
            return False
        topics = [*asked.facts.topics, *(() if answer is None or answer.facts is None else answer.facts.topics)]
        return not options.topics or not options.topics.isdisjoint(map(self._naming.topic_ids.shown, topics))


def _put(side: Side, store: Store, number: int, shape: Shape | None) -> int:
    return number if shape is None else side.put(shape, store.facts[number])


def _shape(side: Side, number: int) -> Shape | None:
    return side.shape(number) if number < NOTHING else None


def _is_new(store: Store, number: int) -> bool:
    """Whether a message is not a record of the store that says all of it."""
    return number <= FROM_TWIN or int(store.facts[number]["raw"]) != NOTHING


def _with_host(endpoint: str) -> tuple[str, str]:
    return endpoint, endpoint.rpartition(":")[0].strip("[]")
