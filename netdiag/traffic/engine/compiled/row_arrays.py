"""The rows that kernels write, until they are batches of Arrow."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from netdiag.traffic.arrow import Unit
from netdiag.traffic.engine.compiled.arenas import Numbers
from netdiag.traffic.engine.compiled.arrow_columns import batch_of, record_type
from netdiag.traffic.engine.compiled.gather import (
    BATCHES,
    ENDS,
    EXCHANGES,
    LISTED,
    NEED_BATCHES,
    NEED_LISTED,
    NEED_PARTITIONS,
    PARTITIONS,
    Out,
)
from netdiag.traffic.engine.compiled.naming import Naming
from netdiag.traffic.engine.compiled.text_columns import taken
from netdiag.traffic.tables import table

TABLES = {"exchanges": EXCHANGES, "partitions": PARTITIONS, "batches": BATCHES}
_NEEDS = {"partitions": NEED_PARTITIONS, "batches": NEED_BATCHES}


class RowArrays:
    """Rows of the tables of `columns`, with those columns; `rows` of each before they become a batch."""

    def __init__(self, columns: Mapping[str, Sequence[str]], unit: Unit, rows: int) -> None:
        self._columns = {name: tuple(names) for name, names in columns.items() if name in TABLES}
        self._unit = unit
        self._rows = {name: np.zeros(rows if name in self._columns else 1, record_type(table(name))) for name in TABLES}
        self._listed = np.zeros(2 * rows, np.int32)
        self._ends = np.zeros(ENDS, np.int64)
        self._stamps = np.zeros(64, np.int64)

    def out(self, texts: int) -> Out:
        """For the kernel; so many texts there are."""
        if texts > len(self._stamps):
            self._stamps = np.zeros(2 * texts, np.int64)
        exchanges, partitions, batches = (self._rows[name] for name in ("exchanges", "partitions", "batches"))
        return Out(exchanges, self._listed, partitions, batches, self._ends, self._stamps)

    @property
    def used(self) -> int:
        """Rows that wait."""
        return int(self._ends[[EXCHANGES, PARTITIONS, BATCHES]].sum())

    def make_room(self) -> None:
        """After `take`: room for the pair that there was none for."""
        needed = int(self._ends[NEED_LISTED])
        if needed > len(self._listed):
            self._listed = np.zeros(needed, np.int32)
        for name, need in _NEEDS.items():
            needed = int(self._ends[need])
            if name in self._columns and needed > len(self._rows[name]):
                self._rows[name] = np.zeros(needed, self._rows[name].dtype)

    def take(self, naming: Naming) -> dict[str, pa.RecordBatch]:
        """What waits as batches; nothing waits afterwards."""
        made = {}
        for name, columns in self._columns.items():
            count = int(self._ends[TABLES[name]])
            if not count:
                continue
            rows: Numbers = self._rows[name][:count]
            if name == "exchanges" and "api_name" in columns:
                naming.name_apis(rows["api_key"], rows["api_name"])
            # Only now, as names of apis may be new texts.
            texts = partial(taken, naming.texts.array())
            made[name] = batch_of(table(name), columns, rows, texts=texts, listed=self._listed, unit=self._unit)
        self._ends[[EXCHANGES, LISTED, PARTITIONS, BATCHES]] = 0
        return made
