"""The rows of a table that an analysis looks at: as `once` and `resolved` of the analysis choose them with Spark."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from netdiag.traffic.folds.making import mapped
from netdiag.traffic.folds.waiting import SCHEMA

_CONNECTION, _TOPIC, _TOPIC_ID, _TOPICS = "connection", "topic", "topic_id", "topics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """`relays`: connections on which everything was said a second time; `names`: topics by their ids.

    `waiting`: up to which offsets groups have committed, see `netdiag.traffic.folds.waiting`; no rows of a table
    are left out for that.
    """

    relays: frozenset[int] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    waiting: pa.Table = field(default_factory=SCHEMA.empty_table, compare=False)

    def columns(self, names: frozenset[str]) -> frozenset[str]:
        """What has to be read for these columns of a table."""
        more = {_CONNECTION} if self.relays else set()
        if self.names and _TOPIC in names:
            more.add(_TOPIC_ID)
        return names | more

    def of(self, rows: pa.Table) -> pa.Table:
        """What is left of these rows, with their topics named."""
        if self.relays:
            relays = pa.array(sorted(self.relays), pa.int64())
            rows = rows.filter(pc.invert(pc.is_in(rows[_CONNECTION], relays)))
        if self.names and _TOPIC in rows.column_names:
            known = mapped(rows[_TOPIC_ID], self.names.get)
            rows = _with(rows, _TOPIC, pc.coalesce(rows[_TOPIC], known))
        if self.names and _TOPICS in rows.column_names:
            rows = _with(rows, _TOPICS, pa.chunked_array([self._named(each) for each in rows[_TOPICS].chunks]))
        return rows

    def _named(self, lists: pa.ListArray) -> pa.ListArray:
        whole = lists.flatten()
        words = mapped(pa.chunked_array([whole], pa.string()), lambda text: self.names.get(text, text))
        sizes = pc.fill_null(pc.list_value_length(lists), 0).cast(pa.int32())
        ends = pc.cumulative_sum(sizes).cast(pa.int32())
        starts = pa.concat_arrays([pa.array([0], pa.int32()), ends])
        mask = pc.is_null(lists)
        return pa.ListArray.from_arrays(starts, pa.concat_arrays(words.chunks), type=lists.type, mask=mask)


def _with(rows: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    return rows.set_column(rows.column_names.index(name), name, column)
