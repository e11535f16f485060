"""Pairs that Python has to look at: what they teach, their rows of rare tables, and themselves as records.

Rare are the rows of `group_events`, `endpoints` and `leaders`: their makers are those of the plain engine.
"""

from typing import Any, Protocol

from netdiag.traffic.engine import details
from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.compiled import recognizing
from netdiag.traffic.engine.compiled.arenas import Arenas, Numbers, Store
from netdiag.traffic.engine.compiled.ends import Connections, Ends
from netdiag.traffic.engine.compiled.layout import FROM_TWIN, NOTHING
from netdiag.traffic.engine.compiled.naming import Naming
from netdiag.traffic.engine.compiled.read_back import answer_of, asked_of
from netdiag.traffic.engine.compiled.repeating import RepeatingBodies
from netdiag.traffic.engine.compiled.side import Side
from netdiag.traffic.engine.details import Exchange
from netdiag.traffic.engine.options import EngineOptions


class Held(Protocol):
    """Messages of the plain engine by number."""

    def __getitem__(self, number: int, /) -> Asked | Answer: ...


TABLES = ("group_events", "endpoints", "leaders")
# So much in messages that may come again is worth reading them anew.
_MOST = 1 << 16
# Who a pair is of matters to the rows of rare tables only.
_NOBODY = Ends(NOTHING, "", "", None)


class Rare:
    """Looks at such pairs; `rows` are those of the rare tables since they were taken."""

    def __init__(self, options: EngineOptions, naming: Naming) -> None:
        self._options = options
        self._naming = naming
        self._bodies = RepeatingBodies(options.tables)
        self._side = Side(naming.texts.number, naming.identify)
        self._shapes = recognizing.new_shapes()
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES if name in options.tables}

    def look(
        self, store: Store, pairs: Numbers, places: Numbers, connections: Connections, held: Held, serial: int
    ) -> Arenas:
        """Take in the pairs at these places, the first of all being of that number; gives what they are of now."""
        side = self._side
        is_large = side.size > _MOST
        if is_large:
            self.forget()
        # Where rows of rare tables are wanted, each pair has its own, and none is known again.
        side.begin(anew=is_large or bool(self.rows))
        records = side.with_room(2 * len(places))
        at, why = 0, recognizing.ODD
        while at < len(places):
            if not self.rows:
                why, at = self._recognize(store, pairs, places, at, records)
                if why == recognizing.ALL:
                    break
            place = int(places[at])
            pair = pairs[place]
            numbers = int(pair["asked"]), int(pair["answer"])
            ends = connections.ends(int(connections.places[place])) if self.rows else _NOBODY
            told = self._look(store, numbers, held, ends, serial + place)
            if why == recognizing.UNKNOWN:
                self._shapes = recognizing.learned(self._shapes, store, numbers, told, records)
            pair["asked"], pair["answer"] = told
            at += 1
        return side.arenas(len(self._naming.texts), self._naming.ids)

    def forget(self) -> None:
        """Texts are counted anew."""
        recognizing.clear(self._shapes)

    def _recognize(self, store: Store, pairs: Numbers, places: Numbers, at: int, records: Numbers) -> tuple[int, int]:
        """What such pairs teach was learned."""
        used = self._shapes.counts[recognizing.FACTS_USED :]
        used[0] = self._side.used
        why, at = recognizing.recognize(pairs, places, at, store.facts, store.raw, self._shapes, records)
        self._side.used = int(used[0])
        return why, at

    def _look(self, store: Store, pair: tuple[int, int], held: Held, ends: Ends, serial: int) -> tuple[int, int]:
        asked, answer = self._read(store, pair, held)
        said = None if answer is None else answer.facts
        if said is not None and said.names:
            self._naming.learn(said.names, serial)
        if asked is not None and asked.facts.names:
            self._naming.learn(asked.facts.names, serial)
        if asked is not None and self.rows:
            self._add(asked, answer, ends)
        return (
            NOTHING if asked is None else self._side.asked(asked) if _is_new(store, pair[0]) else pair[0],
            NOTHING if answer is None else self._side.answer(answer) if _is_new(store, pair[1]) else pair[1],
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


def _is_new(store: Store, number: int) -> bool:
    """Whether a message is not a record of the store that says all of it."""
    return number <= FROM_TWIN or int(store.facts[number]["raw"]) != NOTHING


def _with_host(endpoint: str) -> tuple[str, str]:
    return endpoint, endpoint.rpartition(":")[0].strip("[]")
