"""Messages that Python has read, as records for the kernels of the rows: the same as the machines write.

Texts and topic ids have the numbers of the rows at once.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.bodies.facts import BatchFacts, Facts, PartitionFacts, Topic
from netdiag.traffic.engine.compiled.arenas import Arenas, Numbers
from netdiag.traffic.engine.compiled.layout import (
    BATCH,
    DECODED,
    FACTS,
    FORGOTTEN,
    NOTHING,
    PARTITION,
    SCALARS,
    TEXTS,
    topic_id,
)

_NONE: tuple[()] = ()
_SCALARS = [(name, 1 << place, name in TEXTS) for place, name in enumerate(SCALARS)]
_NO_VALUES = dict.fromkeys(FACTS.names or (), 0)
_in_order = itemgetter(*_NO_VALUES)
_RANGES = ("topics", "partitions", "batches", "forgotten")
_ORDER = [*_NO_VALUES]
_PLACES = tuple(map(_ORDER.index, _RANGES))
# What tells a message from one with the same bytes in it.
_OF_ITS_OWN = tuple(
    map(_ORDER.index, ("start_time", "end_time", "start_number", "end_number", "file", "correlation_id"))
)


class Shape(NamedTuple):
    """A message but for when it came and its correlation id; good as long as numbers of texts are."""

    values: tuple[Any, ...]
    arenas: tuple[list[Any], ...]


class Side:
    """Collects messages; `number` gives a text its number, `identify` a topic id."""

    def __init__(self, number: Callable[[str], int], identify: Callable[[bytes], int]) -> None:
        self._number = number
        self._identify = identify
        # By identity, as they are large; each with where it lies here.
        self._placed: dict[int, tuple[Shape, tuple[tuple[int, int], ...]]] = {}
        self._facts: list[tuple[Any, ...]] = []
        self._topics: list[int] = []
        self._partitions: list[tuple[Any, ...]] = []
        self._batches: list[tuple[Any, ...]] = []
        self._forgotten: list[tuple[int, int]] = []
        self._rows: tuple[list[Any], ...] = (self._topics, self._partitions, self._batches, self._forgotten)

    def asked(self, asked: Asked) -> int:
        """The number of a request, below NOTHING."""
        header = asked.header
        client_id = NOTHING if header.client_id is None else self._number(header.client_id)
        key, version = header.api_key or 0, header.api_version or 0
        return self._add(asked.message, asked.facts, header.correlation_id or 0, client_id, key, version)

    def answer(self, answer: Answer) -> int:
        """The number of a response, below NOTHING."""
        return self._add(answer.message, answer.facts, answer.correlation_id, NOTHING, 0, 0)

    def shape(self, number: int) -> Shape:
        """That of the message of this number."""
        values = self._facts[NOTHING - 1 - number]
        ranges = (values[place] for place in _PLACES)
        return Shape(values, tuple(rows[slice(*where)] for rows, where in zip(self._rows, ranges, strict=True)))

    def put(self, shape: Shape, record: Any) -> int:
        """The number of a message that has this shape, when it came and its correlation id from a record of FACTS."""
        placed = self._placed.get(id(shape))
        if placed is None:
            ranges = []
            for rows, more in zip(self._rows, shape.arenas, strict=True):
                ranges.append((len(rows), len(rows) + len(more)))
                rows += more
            placed = self._placed[id(shape)] = (shape, tuple(ranges))
        values, own = list(shape.values), record.item()
        for place in _OF_ITS_OWN:
            values[place] = own[place]
        for place, where in zip(_PLACES, placed[1], strict=True):
            values[place] = where
        self._facts.append(tuple(values))
        return NOTHING - len(self._facts)

    def arenas(self, texts: int, ids: int) -> Arenas:
        """All of them; so many texts and ids have numbers by now."""
        return Arenas(
            facts=_records(self._facts, FACTS),
            topics=np.array(self._topics, np.int32),
            partitions=_records(self._partitions, PARTITION),
            batches=_records(self._batches, BATCH),
            forgotten=_records(self._forgotten, FORGOTTEN),
            texts=np.arange(texts, dtype=np.int32),
            ids=np.arange(ids, dtype=np.int32),
        )

    def _add(
        self, message: Any, facts: Facts | None, correlation_id: int, client_id: int, key: int, version: int
    ) -> int:
        begins = [len(self._topics), len(self._partitions), len(self._batches), len(self._forgotten)]
        values: dict[str, Any] = _NO_VALUES.copy()
        if facts is not None:
            self._body(facts)
            present = 0
            for name, bit, is_text in _SCALARS:
                value = getattr(facts, name, None)
                if value is not None:
                    present |= bit
                    values[name] = self._number(value) if is_text else int(value)
            values["present"] = present
            values["decoded"] = DECODED.index(facts.decoded)
        ends = [len(self._topics), len(self._partitions), len(self._batches), len(self._forgotten)]
        values |= dict(zip(_RANGES, zip(begins, ends, strict=True), strict=True))
        values |= {"endpoints": (0, 0), "raw": NOTHING, "connection": NOTHING, "client_id": client_id}
        values |= {"start_time": message.start_time, "end_time": message.end_time, "file": message.file}
        values |= {"start_number": message.start_number, "end_number": message.end_number, "size": message.size}
        values |= {"correlation_id": correlation_id, "api_key": key, "api_version": version}
        values["is_request"] = message.is_request
        self._facts.append(_in_order(values))
        return NOTHING - len(self._facts)

    def _body(self, facts: Facts) -> None:
        self._topics += map(self._topic, facts.topics)
        self._partitions += map(self._partition, facts.partitions)
        self._batches += map(self._batch, facts.batches)
        forgotten: Sequence[tuple[Topic, int]] = getattr(facts, "forgotten", _NONE)
        self._forgotten += [(self._topic(topic), partition) for topic, partition in forgotten]

    def _topic(self, topic: Topic) -> int:
        return self._number(topic) if isinstance(topic, str) else topic_id(self._identify(topic))

    def _partition(self, row: PartitionFacts) -> tuple[Any, ...]:
        group = None if row.group is None else self._number(row.group)
        return _record(row, PARTITION, {"topic": self._topic(row.topic), "group": group})

    def _batch(self, row: BatchFacts) -> tuple[Any, ...]:
        return _record(row, BATCH, {"topic": self._topic(row.topic)})


def _record(row: Any, shape: np.dtype[Any], numbers: dict[str, int | None]) -> tuple[Any, ...]:
    values: dict[str, Any] = {**row._asdict(), **numbers}
    values["present"] = sum(1 << place for place, name in enumerate(row._fields) if values[name] is not None)
    return tuple(values[name] or 0 for name in shape.names or ())


def _records(rows: list[Any], shape: np.dtype[Any]) -> Numbers:
    return np.array(rows, shape)
