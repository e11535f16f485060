"""What the numbers in rows stand for: texts, topic ids with what they are called, connections.

The store counts texts and ids in its own way, which changes when it throws some away; those here hold for the rows
that are not batches yet.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled.arenas import Arenas, Numbers, Store, Strings, bytes_of
from netdiag.traffic.engine.compiled.ends import Connections, Ends
from netdiag.traffic.engine.compiled.introducing import MOST_ENDPOINT, introduce, sorted_out
from netdiag.traffic.engine.compiled.lane_wishes import MOST_CLIENT_ID
from netdiag.traffic.engine.compiled.layout import DECODED, NOTHING, OUTCOMES
from netdiag.traffic.engine.compiled.texts import MOST, Texts
from netdiag.traffic.engine.compiled.words import END, Words, look_up
from netdiag.traffic.engine.details import CODECS
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.topic_ids import TopicIds
from netdiag.traffic.places import NOWHERE

_NEVER = 1 << 62
_MOST_IDS = 100_000
_SHOWN_CODECS = tuple(CODECS[codec] if codec < len(CODECS) else f"CODEC({codec})" for codec in range(8))
_API_KEYS = 1 << 16


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
        # Of every context, the stamp of the connection that it was when it was written among those.
        self._stamps = np.zeros(64, np.int64)
        # Where there are such options, what is said of a connection is more than its addresses.
        self._is_plain = not (options.clients or options.brokers) and options.places is NOWHERE
        self._api_names = np.full(_API_KEYS, NOTHING, np.int32)

    @property
    def is_full(self) -> bool:
        """Whether it is time to start anew."""
        return self.texts.is_full or len(self._ids) > _MOST_IDS

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
            texts=self._store_texts.followed(store.strings, self.texts.follow),
            ids=self._store_ids.followed(store.ids, self._identify_all),
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

    def introduce(self, connections: Connections) -> None:
        """Know these connections, at the indices of their contexts in `connections`."""
        indices, rows = connections.indices, connections.rows
        most = int(indices.max()) + 1
        if most > len(self._stamps):
            stamps, ends = np.zeros(2 * most, np.int64), np.zeros(2 * most, END)
            stamps[: len(self._stamps)], ends[: len(self._stamps)] = self._stamps, self._connections
            self._stamps, self._connections = stamps, ends
        new, others = np.empty((2, len(indices)), np.int64)
        plain, odd = sorted_out(rows, indices, self._stamps, self._is_plain, new, others)
        if plain:
            new = new[:plain]
            table = self.texts.with_room(3 * len(new), (2 * MOST_ENDPOINT + MOST_CLIENT_ID) * len(new))
            introduce(rows, indices, new, table, self._connections, np.zeros(MOST_ENDPOINT, np.uint8))
        for place in others[:odd].tolist():
            self._connections[indices[place]] = self._end(connections.ends(place))

    @property
    def connections(self) -> Numbers:
        """Records of END by context."""
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

    def name_apis(self, keys: Numbers, names: Numbers) -> None:
        """Write the texts of the names of api keys."""
        done = 0
        while (done := look_up(keys, self._api_names, done, names)) < len(keys):
            key = int(keys[done])
            self._api_names[key & 0xFFFF] = self.texts.number(wire.api_name(key))

    def restart(self, texts: Sequence[int], ids: Sequence[int]) -> tuple[Numbers, Numbers]:
        """Count anew; gives the new numbers by the old ones of those texts and ids that are still needed."""
        old_texts, old_ids = {number: self.texts.text(number) for number in texts}, list(self._ids)
        new_texts, new_ids = np.zeros(len(self.texts), np.int32), np.zeros(len(old_ids), np.int32)
        self.texts.clear()
        self._ids = {}
        self._store_texts, self._store_ids = _Map(), _Map()
        self._stamps[:] = 0
        self._api_names[:] = NOTHING
        for number in texts:
            new_texts[number] = self.texts.number(old_texts[number])
        for number in ids:
            new_ids[number] = self.identify(old_ids[number])
        return new_texts, new_ids

    def _identify_all(self, others: Strings, begin: int, end: int, numbers: Numbers) -> None:
        for each in range(begin, end):
            numbers[each] = self.identify(bytes_of(others, each))

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

    def followed(self, strings: Strings, follow: Callable[[Strings, int, int, Numbers], None]) -> Numbers:
        count, which = (int(figure) for figure in strings.counts[:2])
        if which != self._table:
            self._table, self._count = which, 0
        if count > len(self._numbers):
            larger = np.zeros(max(count, 2 * len(self._numbers)), np.int32)
            larger[: self._count] = self._numbers[: self._count]
            self._numbers = larger
        if count > self._count:
            follow(strings, self._count, count, self._numbers)
        self._count = count
        return self._numbers


def _numbers(values: Any) -> Numbers:
    return np.array(list(values), np.int32)


def _or_nothing(number: Any, text: str | None) -> int:
    return NOTHING if text is None else int(number(text))


def _host(endpoint: str) -> str:
    return endpoint.rpartition(":")[0].strip("[]")
