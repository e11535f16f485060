"""Messages that Python has read, as records for the kernels of the rows: the same as the machines write.

Texts and topic ids have the numbers of the rows at once.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

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
_ARRAYS: dict[str, Any] = {"topics": np.int32, "partitions": PARTITION, "batches": BATCH, "forgotten": FORGOTTEN}


class Side:
    """Collects messages; `number` gives a text its number, `identify` a topic id."""

    used: int
    _arrays: dict[str, Numbers]
    _ends: dict[str, int]

    def __init__(self, number: Callable[[str], int], identify: Callable[[bytes], int]) -> None:
        self._number = number
        self._identify = identify
        self._facts = np.zeros(64, FACTS)
        self._counted = np.arange(64, dtype=np.int32)
        self.begin(anew=True)

    @property
    def size(self) -> int:
        """How much lies in all messages together."""
        return sum(self._ends.values())

    def begin(self, *, anew: bool) -> None:
        """Without messages; what lies in them stays where it is, for others that say the same, if not `anew`."""
        self.used = 0
        if anew:
            self._arrays = {name: np.zeros(64, kind) for name, kind in _ARRAYS.items()}
            self._ends = dict.fromkeys(_ARRAYS, 0)

    def with_room(self, messages: int) -> Numbers:
        """The records, with room for so many more; who writes them says so in `used`."""
        self._facts = _with_room(self._facts, self.used, messages)
        return self._facts

    def asked(self, asked: Asked) -> int:
        """The number of a request, below NOTHING."""
        header = asked.header
        client_id = NOTHING if header.client_id is None else self._number(header.client_id)
        key, version = header.api_key or 0, header.api_version or 0
        return self._add(asked.message, asked.facts, header.correlation_id or 0, client_id, key, version)

    def answer(self, answer: Answer) -> int:
        """The number of a response, below NOTHING."""
        return self._add(answer.message, answer.facts, answer.correlation_id, NOTHING, 0, 0)

    def arenas(self, texts: int, ids: int) -> Arenas:
        """All of them; so many texts and ids have numbers by now."""
        if max(texts, ids) > len(self._counted):
            self._counted = np.arange(2 * max(texts, ids), dtype=np.int32)
        return Arenas(
            facts=self._facts[: self.used],
            texts=self._counted[:texts],
            ids=self._counted[:ids],
            **{name: array[: self._ends[name]] for name, array in self._arrays.items()},
        )

    def _add(
        self, message: Any, facts: Facts | None, correlation_id: int, client_id: int, key: int, version: int
    ) -> int:
        begins = self._ends.copy()
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
        values |= {name: (begin, self._ends[name]) for name, begin in begins.items()}
        values |= {"endpoints": (0, 0), "raw": NOTHING, "connection": NOTHING, "client_id": client_id}
        values |= {"start_time": message.start_time, "end_time": message.end_time, "file": message.file}
        values |= {"start_number": message.start_number, "end_number": message.end_number, "size": message.size}
        values |= {"correlation_id": correlation_id, "api_key": key, "api_version": version}
        values["is_request"] = message.is_request
        self.with_room(1)[self.used] = _in_order(values)
        self.used += 1
        return NOTHING - self.used

    def _body(self, facts: Facts) -> None:
        forgotten: Sequence[tuple[Topic, int]] = getattr(facts, "forgotten", _NONE)
        self._extend("topics", [self._topic(topic) for topic in facts.topics])
        self._extend("partitions", [self._partition(row) for row in facts.partitions])
        self._extend("batches", [self._batch(row) for row in facts.batches])
        self._extend("forgotten", [(self._topic(topic), partition) for topic, partition in forgotten])

    def _extend(self, name: str, rows: list[Any]) -> None:
        if rows:
            begin = self._ends[name]
            end = self._ends[name] = begin + len(rows)
            array = self._arrays[name] = _with_room(self._arrays[name], begin, len(rows))
            array[begin:end] = rows

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


def _with_room(array: Numbers, used: int, more: int) -> Numbers:
    if used + more <= len(array):
        return array
    larger = np.zeros(2 * (used + more), array.dtype)
    larger[:used] = array[:used]
    return larger
