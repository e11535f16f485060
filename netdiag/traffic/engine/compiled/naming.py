"""What the numbers in rows stand for: texts, topic ids with what they are called, connections.

The store counts texts and ids in its own way, which changes when it throws some away; those here hold for the rows
that are not batches yet.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled.arenas import Arenas, Numbers, Store, Strings, bytes_of
from netdiag.traffic.engine.compiled.layout import DECODED, NOTHING, OUTCOMES
from netdiag.traffic.engine.compiled.texts import MOST, Texts
from netdiag.traffic.engine.compiled.words import END, Words
from netdiag.traffic.engine.details import CODECS
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.topic_ids import TopicIds
from netdiag.traffic.places import NOWHERE

_NEVER = 1 << 62
_MOST_CONNECTIONS = 200_000
_MOST_IDS = 100_000
_SHOWN_CODECS = tuple(CODECS[codec] if codec < len(CODECS) else f"CODEC({codec})" for codec in range(8))
_API_KEYS = 1 << 16


class Ends(NamedTuple):
    """A connection: its number, address:port of both ends, the client id that was seen first."""

    number: int
    client: str
    broker: str
    client_id: str | None


class Naming:
    """Numbers for the rows of one capture."""

    def __init__(self, options: EngineOptions, files: Sequence[str], most: int = MOST) -> None:
        self._options = options
        self._files = tuple(files)
        wanted = (*sorted(options.topics), *sorted(options.clients))
        self.texts = Texts(("", *files, *_SHOWN_CODECS, *DECODED, *OUTCOMES, *wanted), most)
        self.topic_ids = TopicIds()
        self._ids: dict[bytes, int] = {}
        self._names = np.empty((3, 64), np.int64)
        self._store_texts = _Map()
        self._store_ids = _Map()
        self._connections = np.zeros(64, END)
        self._known: list[Ends | None] = []
        self._places = np.zeros(0, np.int32)
        self._used = 0
        self._api_names = np.full(_API_KEYS, NOTHING, np.int32)

    @property
    def is_full(self) -> bool:
        """Whether it is time to start anew."""
        return self.texts.is_full or self._used > _MOST_CONNECTIONS or len(self._ids) > _MOST_IDS

    @property
    def ids(self) -> int:
        """How many topic ids have numbers."""
        return len(self._ids)

    def arenas(self, store: Store) -> Arenas:
        """The arrays of a store, with what its numbers are here."""
        return Arenas(
            facts=store.facts,
            topics=store.topics,
            partitions=store.partitions,
            batches=store.batches,
            forgotten=store.forgotten,
            texts=self._store_texts.followed(store.strings, lambda raw: self.texts.number(raw.decode())),
            ids=self._store_ids.followed(store.ids, self.identify),
        )

    def identify(self, number: bytes) -> int:
        """The number of a topic id."""
        known = self._ids.get(number)
        if known is None:
            known = self._ids[number] = len(self._ids)
            if known == self._names.shape[1]:
                self._names = np.concatenate([self._names, np.empty_like(self._names)], axis=1)
            name = self.topic_ids.name(number)
            shape = self.texts.number(self.topic_ids.text(number))
            self._names[:, known] = (NOTHING, _NEVER, shape) if name is None else (self.texts.number(name), 0, shape)
        return known

    def learn(self, names: Sequence[tuple[bytes, str]], serial: int) -> None:
        """What topic ids are called, from the pair of that number on."""
        new = [(number, name) for number, name in names if self.topic_ids.name(number) is None]
        self.topic_ids.learn(names)
        for number, _ in new:
            name = self.topic_ids.name(number)
            known = self._ids.get(number)
            if known is not None and name is not None:
                self._names[:2, known] = self.texts.number(name), serial

    def places(self, indices: Numbers, contexts: Any) -> Numbers:
        """The places of connections among `connections`; an index may stand for another one later."""
        most = int(indices.max()) + 1
        if most > len(self._known):
            self._known += [None] * (2 * most - len(self._known))
            places = np.zeros(len(self._known), np.int32)
            places[: len(self._places)] = self._places
            self._places = places
        known = self._known
        listed = indices.tolist()
        ends = [contexts[index] for index in listed]
        new = [(index, end) for index, end in zip(listed, ends, strict=True) if known[index] is not end]
        begin = self._used
        rows: list[tuple[Any, ...]] = []
        for index, end in new:
            if known[index] != end:
                self._places[index] = begin + len(rows)
                rows.append(self._end(end))
            known[index] = end
        self._used += len(rows)
        if self._used > len(self._connections):
            larger = np.zeros(2 * self._used, END)
            larger[:begin] = self._connections[:begin]
            self._connections = larger
        if rows:
            self._connections[begin : self._used] = rows
        return self._places[indices]

    @property
    def connections(self) -> Numbers:
        """Records of END."""
        return self._connections

    def words(self) -> Words:
        """For the kernel, as of now."""
        number = self.texts.number
        return Words(
            files=_numbers(number(name) for name in self._files),
            codecs=_numbers(map(number, _SHOWN_CODECS)),
            decoded=_numbers(map(number, DECODED)),
            outcomes=_numbers(map(number, OUTCOMES)),
            clients=self._marked(self._options.clients),
            topics=self._marked(self._options.topics),
            name=self._names[0],
            since=self._names[1],
            shape=self._names[2],
        )

    def api_names(self, keys: Numbers) -> Numbers:
        """The texts of the names of api keys."""
        places = keys.astype(np.uint16)
        found = self._api_names[places]
        if found.size and found.min() == NOTHING:
            for key in np.unique(keys[found == NOTHING]).tolist():
                self._api_names[np.uint16(key & 0xFFFF)] = self.texts.number(wire.api_name(key))
            found = self._api_names[places]
        return found

    def restart(self, texts: Sequence[int], ids: Sequence[int]) -> tuple[Numbers, Numbers]:
        """Count anew; gives the new numbers by the old ones of those texts and ids that are still needed."""
        old_texts, old_ids = list(self.texts.order), list(self._ids)
        self.texts.clear()
        self._ids = {}
        self._store_texts, self._store_ids = _Map(), _Map()
        self._known, self._places = [], np.zeros(0, np.int32)
        self._used = 0
        self._api_names[:] = NOTHING
        new_texts, new_ids = np.zeros(len(old_texts), np.int32), np.zeros(len(old_ids), np.int32)
        for number in texts:
            new_texts[number] = self.texts.number(old_texts[number])
        for number in ids:
            new_ids[number] = self.identify(old_ids[number])
        return new_texts, new_ids

    def _end(self, ends: Ends) -> tuple[Any, ...]:
        """The record of END."""
        number, options = self.texts.number, self._options
        identity, client, broker, client_id = ends
        asked = NOTHING if client_id is None else number(client_id)
        named = (NOTHING, NOTHING, NOTHING)
        if options.places is not NOWHERE:
            client_name, broker_name, listener = options.places.name(client, broker)
            named = _or_nothing(number, client_name), _or_nothing(number, broker_name), _or_nothing(number, listener)
        is_client = bool(options.clients) and not options.clients.isdisjoint((client, _host(client)))
        is_broker = bool(options.brokers) and not options.brokers.isdisjoint((broker, _host(broker)))
        return identity, number(client), number(broker), *named, asked, is_client, is_broker

    def _marked(self, wanted: frozenset[str]) -> Numbers:
        marked = np.zeros(len(self.texts) if wanted else 1, np.uint8)
        for text in wanted:
            marked[self.texts.number(text)] = 1
        return marked


class _Map:
    """From the numbers of a table of the store to those here, as far as it was followed."""

    def __init__(self) -> None:
        self._numbers = np.zeros(64, np.int32)
        self._count = 0
        self._table: int | None = None

    def followed(self, strings: Strings, number: Any) -> Numbers:
        count, which = (int(figure) for figure in strings.counts[:2])
        if which != self._table:
            self._table, self._count = which, 0
        if count > len(self._numbers):
            larger = np.zeros(max(count, 2 * len(self._numbers)), np.int32)
            larger[: self._count] = self._numbers[: self._count]
            self._numbers = larger
        for each in range(self._count, count):
            self._numbers[each] = number(bytes_of(strings, each))
        self._count = count
        return self._numbers


def _numbers(values: Any) -> Numbers:
    return np.array(list(values), np.int32)


def _or_nothing(number: Any, text: str | None) -> int:
    return NOTHING if text is None else int(number(text))


def _host(endpoint: str) -> str:
    return endpoint.rpartition(":")[0].strip("[]")
