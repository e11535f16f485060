"""Which rows count, and what their topics are called: known only when everything was read."""

from collections.abc import Iterable, Mapping
from dataclasses import field

import pyarrow as pa
import pyarrow.compute as pc

from netdiag.traffic.folds.merged import mapped
from netdiag.values import dataclass

_CONNECTION, _TOPIC, _TOPIC_ID, _TOPICS = "connection", "topic", "topic_id", "topics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """`relays`: connections on which everything was said a second time; `names`: topics by their ids."""

    relays: frozenset[int] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_namesakes(self) -> bool:
        """Whether topics have the same name, of which the engine has to know: it counts the topics of an exchange."""
        return len(set(self.names.values())) < len(self.names)

    def of(self, rows: pa.Table) -> pa.Table:
        """What is left of these rows, with their topics named."""
        if self.relays and _CONNECTION in rows.column_names:
            relays = pa.array(sorted(self.relays), pa.int64())
            rows = rows.filter(pc.invert(pc.is_in(rows[_CONNECTION], relays)))
        if self.names and _TOPIC in rows.column_names:
            known = mapped(rows[_TOPIC_ID], self.names.get)
            rows = _with(rows, _TOPIC, pc.coalesce(rows[_TOPIC], known))
        if self.names and _TOPICS in rows.column_names:
            lists = [self._named(each) for each in rows[_TOPICS].chunks]
            rows = _with(rows, _TOPICS, pa.chunked_array(lists, rows[_TOPICS].type))
        return rows

    def _named(self, lists: pa.ListArray) -> pa.ListArray:
        whole = lists.flatten()
        words = mapped(pa.chunked_array([whole], pa.string()), lambda text: self.names.get(text, text))
        sizes = pc.fill_null(pc.list_value_length(lists), 0).cast(pa.int32())
        ends = pc.cumulative_sum(sizes).cast(pa.int32())
        starts = pa.concat_arrays([pa.array([0], pa.int32()), ends])
        mask = pc.is_null(lists)
        return pa.ListArray.from_arrays(starts, pa.concat_arrays(words.chunks), type=lists.type, mask=mask)


def told_names(tables: Iterable[pa.Table]) -> dict[str, str]:
    """The topic of every id that is told in these, as `aggregates.topic_names` has them."""
    found: dict[str, str] = {}
    for rows in tables:
        told = rows.filter(pc.and_(pc.is_valid(rows[_TOPIC_ID]), pc.is_valid(rows[_TOPIC])))
        pairs = told.select([_TOPIC_ID, _TOPIC]).group_by([_TOPIC_ID, _TOPIC], use_threads=False).aggregate([])
        for key, topic in zip(pairs[_TOPIC_ID].to_pylist(), pairs[_TOPIC].to_pylist(), strict=True):
            found[key] = min(found.get(key, topic), topic)
    return found


def _with(rows: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    place = rows.column_names.index(name)
    return rows.set_column(place, rows.schema.field(place), column)
