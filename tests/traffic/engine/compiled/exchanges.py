"""Exchanges as the plain engine has them, put into arrays as the machines would: what rows are made of, twice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.assemble import Answer, Asked, Context, exchange_row
from netdiag.traffic.engine.assembly import Assembly
from netdiag.traffic.engine.compiled.columns import Columns
from netdiag.traffic.engine.compiled.ends import CONTEXT, Connections, Ends
from netdiag.traffic.engine.compiled.layout import ENDPOINT, FROM_TWIN, NOTHING, OUTCOMES, PAIR
from netdiag.traffic.engine.compiled.side import Side
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Packet
from netdiag.traffic.engine.run import Engine

Row = tuple[Any, ...]
Array = npt.NDArray[Any]


class Exchange(NamedTuple):
    """One call of `Pairing._emit`."""

    ends: Ends
    asked: Asked | None
    answer: Answer | None
    outcome: str


class Listening(Engine):
    """The plain engine, that notes which exchanges its rows are made of."""

    def __init__(self, options: EngineOptions, files: Sequence[str]) -> None:
        super().__init__(options, files)
        self.heard: list[Exchange] = []

    def _emit(self, connection: Any, asked: Asked | None, answer: Answer | None, outcome: str) -> None:
        ends = Ends(connection.number, connection.client, connection.broker, connection.client_id)
        self.heard.append(Exchange(ends, asked, answer, outcome))
        super()._emit(connection, asked, answer, outcome)


def heard(options: EngineOptions, packets: Sequence[Packet]) -> tuple[list[Exchange], dict[str, list[Row]]]:
    """The exchanges in packets, and the rows that the plain engine makes of them."""
    engine = Listening(options, ["a.pcap"])
    for packet in packets:
        engine.feed(packet)
    engine.finish()
    return engine.heard, engine.drain()


def plain_rows(options: EngineOptions, files: Sequence[str], exchanges: Sequence[Exchange]) -> dict[str, list[Row]]:
    """The rows as the makers of the plain engine have them; nothing is left out."""
    assembly = Assembly()
    rows: dict[str, list[Row]] = {name: [] for name in options.tables}
    for each in exchanges:
        ends = each.ends
        named = options.places.name(ends.client, ends.broker)
        context = Context(ends.number, ends.client, ends.broker, tuple(files), assembly.topic_ids, named)
        assembly.learn(context, each.asked, each.answer)
        if "exchanges" in rows:
            rows["exchanges"].append(exchange_row(context, each.asked, each.answer, each.outcome))
        if each.asked is not None:
            assembly.add(rows, context, each.asked, each.answer)
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """As `arenas.Strings`."""

    data: Array
    bounds: Array
    counts: Array

    @classmethod
    def of(cls, texts: Sequence[bytes], which: int) -> "Texts":
        """These, in a numbering of their own."""
        bounds = np.cumsum([0, *map(len, texts)])
        return cls(data=np.frombuffer(b"".join(texts), np.uint8), bounds=bounds, counts=np.array([len(texts), which]))


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeStore:
    """As `arenas.Store`."""

    facts: Array
    topics: Array
    partitions: Array
    batches: Array
    forgotten: Array
    endpoints: Array
    raw: Array
    strings: Texts
    ids: Texts


def connections_of(pairs: npt.NDArray[Any], told: Mapping[int, Ends], stamp: int = 1) -> Connections:
    """The connections of pairs, all told by the twin."""
    indices, places = np.unique(pairs["connection"], return_inverse=True)
    rows = np.zeros(len(indices), CONTEXT)
    rows["stamp"] = stamp + np.arange(len(indices))
    return Connections(indices, places, rows, told)


@dataclass(slots=True)
class Chunks:
    """Hands exchanges to `Columns`, so many at a time.

    `holds` says of a message whether the plain engine has it, else it is a record of the store. `keeps` says whether
    the texts go on with their numbers in the next chunk, as long as the store does not sort them out.
    """

    columns: Columns
    size: int = 7
    holds: Callable[[Asked | Answer], bool] = lambda message: False
    keeps: Callable[[], bool] = lambda: True
    _texts: dict[str, int] = field(default_factory=dict)
    _ids: dict[bytes, int] = field(default_factory=dict)
    _which: int = 0
    _stamp: int = 0

    def feed(self, exchanges: Sequence[Exchange]) -> None:
        """All of them."""
        for start in range(0, len(exchanges), self.size):
            self._feed(exchanges[start : start + self.size])

    def _feed(self, exchanges: Sequence[Exchange]) -> None:
        if not self.keeps():
            self._texts.clear()
            self._ids.clear()
            self._which += 1
        side = Side(
            lambda text: self._texts.setdefault(text, len(self._texts)),
            lambda number: self._ids.setdefault(number, len(self._ids)),
        )
        held: dict[int, Asked | Answer] = {}
        contexts: list[Ends] = []
        pairs = np.zeros(len(exchanges), PAIR)
        for pair, each in zip(pairs, exchanges, strict=True):
            if each.ends not in contexts:
                contexts.append(each.ends)
            pair["connection"] = contexts.index(each.ends)
            pair["outcome"] = OUTCOMES.index(each.outcome)
            pair["asked"] = self._number(each.asked, side, held)
            pair["answer"] = self._number(each.answer, side, held)
        made = side.arenas(0, 0)
        store = FakeStore(
            facts=made.facts,
            topics=made.topics,
            partitions=made.partitions,
            batches=made.batches,
            forgotten=made.forgotten,
            endpoints=np.zeros(0, ENDPOINT),
            raw=np.zeros(0, np.uint8),
            strings=Texts.of([text.encode() for text in self._texts], self._which),
            ids=Texts.of(list(self._ids), self._which),
        )
        self.columns.emit(store, pairs, self._connections(pairs, contexts), held)

    def _connections(self, pairs: npt.NDArray[Any], contexts: list[Ends]) -> Connections:
        self._stamp += len(contexts)
        return connections_of(pairs, dict(enumerate(contexts)), self._stamp)

    def _number(self, message: Asked | Answer | None, side: Side, held: dict[int, Asked | Answer]) -> int:
        if message is None:
            return NOTHING
        if self.holds(message) or message.facts is None:
            held[len(held)] = message
            return FROM_TWIN - (len(held) - 1)
        return NOTHING - 1 - (side.asked(message) if isinstance(message, Asked) else side.answer(message))


def rows_of(columns: Columns) -> dict[str, list[Row]]:
    """The rows that are ready, as the plain engine writes them."""
    return {
        name: [tuple(map(_plain, row.values())) for batch in batches for row in _rows(batch)]
        for name, batches in columns.drain().items()
    }


def _rows(batch: Any) -> list[dict[str, Any]]:
    times = [
        name for name, kind in zip(batch.schema.names, batch.schema.types, strict=True) if "timestamp" in str(kind)
    ]
    for name in times:
        place = batch.schema.names.index(name)
        batch = batch.set_column(place, name, batch.column(place).cast("int64"))
    listed: list[dict[str, Any]] = batch.to_pylist()
    return listed


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
