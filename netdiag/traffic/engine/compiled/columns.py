"""From pairs of messages to record batches of Arrow: exchanges, partitions, batches, and the rows that are rare.

    columns = Columns(options, files)
    columns.emit(store, pairs, connections, held)
    batches = columns.drain()

What is usual goes from arrays to arrays. A pair with a message that only Python can read, or with rows of a rare table,
is read back into objects and then written into arrays, too, so that all pairs meet one kernel, in their order.
"""

import secrets
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from netdiag.traffic.arrow import Unit, record_batch
from netdiag.traffic.engine.compiled import rare, row_arrays
from netdiag.traffic.engine.compiled.arenas import Arenas, Numbers, Store
from netdiag.traffic.engine.compiled.ends import Connections
from netdiag.traffic.engine.compiled.gather import ALL, ROWS_FULL, Sources, Wish, gather
from netdiag.traffic.engine.compiled.joining import new_join
from netdiag.traffic.engine.compiled.naming import Naming
from netdiag.traffic.engine.compiled.rare import Held, Rare
from netdiag.traffic.engine.compiled.row_arrays import RowArrays
from netdiag.traffic.engine.compiled.sessions import grown, new_sessions, numbers_used, renumbered
from netdiag.traffic.engine.compiled.sorting_out import rare_pairs
from netdiag.traffic.engine.compiled.texts import MOST
from netdiag.traffic.engine.details import GROUP_KEYS
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.tables import table

TABLES = (*row_arrays.TABLES, *rare.TABLES)
"""The tables whose rows are made here."""
ROWS = 1 << 14
"""So many rows are gathered before they become a batch, unless somebody wants them earlier."""
# What of an exchange is said without a look at bodies.
_OF_HEADERS = frozenset(
    {
        "time",
        "client",
        "broker",
        "api_key",
        "api_name",
        "api_version",
        "correlation_id",
        "client_id",
        "request_bytes",
        "response_bytes",
        "latency_ms",
        "outcome",
        "response_time",
        "service_ms",
        "client_name",
        "broker_name",
        "listener",
        "connection",
        "request_packet",
        "response_packet",
        "file",
    }
)


class Columns:
    """`columns` are those wanted of a table, all where it does not say; `rows`: how many become a batch.

    From `most_texts` on the texts of rows are counted anew.
    """

    def __init__(
        self,
        options: EngineOptions,
        files: Sequence[str],
        unit: Unit = "ns",
        *,
        columns: Mapping[str, Sequence[str]] | None = None,
        rows: int = ROWS,
        most_texts: int = MOST,
    ) -> None:
        wanted = {name: tuple(table(name).names) for name in TABLES if name in options.tables}
        self._columns = {**wanted, **{name: tuple(names) for name, names in (columns or {}).items() if name in wanted}}
        self._unit = unit
        self._naming = Naming(options, files, most_texts)
        self._rare = Rare(options, self._naming)
        self._rows = RowArrays(self._columns, unit, rows)
        self._ready: dict[str, list[pa.RecordBatch]] = {name: [] for name in self._columns}
        self._wish = Wish(
            exchanges="exchanges" in self._columns,
            partitions="partitions" in self._columns,
            batches="batches" in self._columns,
            clients=bool(options.clients),
            brokers=bool(options.brokers),
            topics=bool(options.topics),
        )
        self._reads_raw = bool(options.topics) or not (
            self._columns.keys() == {"exchanges"} and _OF_HEADERS.issuperset(self._columns["exchanges"])
        )
        groups = np.zeros(max(GROUP_KEYS) + 1, np.uint8)
        groups[sorted(GROUP_KEYS)] = 1
        self._groups = groups if "group_events" in self._columns else groups[:0]
        self._seed = secrets.randbits(62)
        self._join = new_join(64, self._seed)
        self._sessions = new_sessions()
        self._serial = 0

    @property
    def topic_names(self) -> Mapping[str, str]:
        """The names of topics by their id, as far as the capture told them."""
        return self._naming.topic_ids.names

    def emit(self, store: Store, pairs: Numbers, connections: Connections, held: Held) -> None:
        """Make rows of the next pairs, records of PAIR; `held` are the messages of the plain engine by number."""
        if not len(pairs):
            return
        if self._naming.is_full:
            self._restart()
        main = self._naming.arenas(store)
        self._naming.introduce(connections)
        local = connections.indices[connections.places]
        side, pairs = self._sorted_out(store, pairs, connections, held)
        self._gather(main, side, pairs, local)
        self._serial += len(pairs)

    def drain(self, least: int = 1) -> dict[str, list[pa.RecordBatch]]:
        """The batches since the last time; rows that wait are among them when there are at least so many."""
        if self._rows.used >= least:
            self._take()
        for name, rows in self._rare.rows.items():
            if len(rows) >= least:
                names = self._columns[name]
                self._ready[name].append(record_batch(table(name), rows, names, unit=self._unit))
                self._rare.rows[name] = []
        taken = self._ready
        self._ready = {name: [] for name in taken}
        return taken

    def _sorted_out(self, store: Store, pairs: Numbers, connections: Connections, held: Held) -> tuple[Arenas, Numbers]:
        found = np.empty(len(pairs), np.int64)
        endpoints = "endpoints" in self._columns
        count = rare_pairs(pairs, store.facts, self._reads_raw, self._groups, endpoints, found)
        if count:
            pairs = pairs.copy()
        return self._rare.look(store, pairs, found[:count], connections, held, self._serial), pairs

    def _gather(self, main: Arenas, side: Arenas, pairs: Numbers, local: Numbers) -> None:
        naming, at, why = self._naming, 0, ROWS_FULL
        largest = max(_largest(main), _largest(side)) if self._wish.partitions else 0
        if largest > len(self._join.rows):
            self._join = new_join(2 * largest, self._seed)
        words, connections = naming.words(), naming.connections
        while True:
            out = self._rows.out(len(naming.texts))
            sources = Sources(main, side, pairs, local, connections)
            why, at = gather(sources, at, self._serial, words, self._sessions, self._join, self._wish, out)
            if why == ALL:
                return
            if why == ROWS_FULL:
                self._take()
                self._rows.make_room()
            else:
                self._sessions = grown(self._sessions, 2 * largest)

    def _take(self) -> None:
        for name, batch in self._rows.take(self._naming).items():
            self._ready[name].append(batch)

    def _restart(self) -> None:
        """Count texts anew; only what sessions know goes on."""
        self._take()
        self._rare.forget()
        renumbered(self._sessions, *self._naming.restart(*numbers_used(self._sessions)))


def _largest(arenas: Arenas) -> int:
    """Partitions of the message that names most."""
    ranges = arenas.facts["partitions"]
    return int((ranges[:, 1] - ranges[:, 0]).max(initial=0))
