"""One step behind: a thread makes rows of what the engine has paired while the engine goes on.

It makes them in the order of the pairs, and the same batches at any pace: the engine waits where it would get further
ahead than by one store.
"""

import queue
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from netdiag.traffic.engine.compiled.arenas import Numbers
from netdiag.traffic.engine.compiled.columns import Columns
from netdiag.traffic.engine.compiled.ends import Connections
from netdiag.traffic.engine.compiled.store import Store, as_large

Batches = dict[str, list[pa.RecordBatch]]


class _Work(NamedTuple):
    store: Store
    pairs: Numbers
    connections: Connections
    held: Sequence[Any]


class Behind:
    """`columns` as the engine wants them; those are nobody else's until `stop`."""

    def __init__(self, columns: Columns, least: int) -> None:
        self._columns = columns
        self._least = least
        # Never more than one, as there are two stores.
        self._work: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        # The store that is not being filled, or None where there is none yet.
        self._unused: queue.SimpleQueue[Store | None] = queue.SimpleQueue()
        self._unused.put(None)
        self._made: queue.SimpleQueue[Mapping[str, Sequence[pa.RecordBatch]]] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._make, name="behind", daemon=True)
        self._thread.start()

    def emit(self, store: Store, pairs: Numbers, connections: Connections, held: list[Any]) -> Store | None:
        """As `Columns.emit`, later; gives the store to go on with."""
        if not len(pairs):
            return None
        other = as_large(store, self._unused.get())
        # Texts are added to the tables that both stores share: those that these pairs have are there now.
        known = {"strings": _as_they_are(store.strings), "ids": _as_they_are(store.ids)}
        self._work.put(_Work(store._replace(**known), pairs.copy(), connections, held))
        return other

    def drain(self) -> Batches:
        """The batches that were made since the last time; errors of making them."""
        if self._error is not None:
            raise self._error
        taken: Batches = {}
        while not self._made.empty():
            for name, batches in self._made.get().items():
                taken.setdefault(name, []).extend(batches)
        return taken

    def stop(self) -> None:
        """Wait until all is made that was asked for; may be called again."""
        self._work.put(None)
        self._thread.join()

    def _make(self) -> None:
        while (work := self._work.get()) is not None:
            if self._error is None:
                try:
                    self._columns.emit(*work)
                    self._made.put(self._columns.drain(self._least))
                except BaseException as error:  # noqa: BLE001
                    self._error = error
            self._unused.put(work.store)


def _as_they_are(table: Any) -> Any:
    return table._replace(counts=table.counts.copy())
