"""Tables of a large capture that are small themselves, given to Spark as they are.

A question to a few thousand rows is one task without a file and without an exchange of rows, where all its tables are
like that; most of what it took was finding the files, and joining out what relays have said.

What tables that lie in memory say of questions to all rows need not be asked of Spark: the first questions are the
dearest, and what they find is joined to every later one.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame, SparkSession

from netdiag.traffic.aggregates.expressions import ONE_TASK
from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds import Selection
from netdiag.traffic.tables import NAMES, TOGETHER, table

# Spark plans one question while it runs another.
AT_ONCE = 3
# What goes along with a question as it is: each task of it gets these rows.
MOST = 200_000
# In bytes: names in captures may have 1 kB each.
_MOST_BYTES = 1 << 26
# So many rows of all tables together are as well looked at by one task as by two, which would have to exchange them.
_ONE_TASK = 2_000_000
_ALONE = {
    ONE_TASK: "1",
    "spark.sql.shuffle.partitions": "1",
    # Where all is one task already, a broadcast is one more job, and what is joined need not be small.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.optimizer.disableHints": "true",
    "spark.sql.defaultSizeInBytes": "1",
    # To find the first rows Spark would write code; to sort the few that there are it need not.
    "spark.sql.execution.topKSortFallbackThreshold": "0",
    "spark.sql.optimizer.windowGroupLimitThreshold": "-1",
    # A third of what planning took was this rule working out columns of tables, as a task does in passing.
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation,"
    "org.apache.spark.sql.catalyst.optimizer.PushDownLeftSemiAntiJoin",
}
_SELECTED = ("group_events", "endpoints", "leaders")
Parts = Mapping[str, pa.Table]


def small_table(folder: str, name: str, rows: int) -> pa.Table | None:
    """All rows of a table that was written there, if it is small."""
    if rows > MOST:
        return None
    shape = schema_of(table(name), unit="us")
    parts, size = [shape.empty_table()], 0
    for path in _parts(folder, name):
        with pq.ParquetFile(path) as file:
            for number in range(file.num_row_groups):
                parts.append(file.read_row_group(number).cast(shape))
                size += parts[-1].nbytes
                if size > _MOST_BYTES:
                    return None
    return pa.concat_tables(parts)


def is_small(rows: pa.Table) -> bool:
    """Whether these go along with every question."""
    return bool(rows.num_rows <= MOST and rows.nbytes <= _MOST_BYTES)


def rows_at(folder: str, name: str) -> pa.Table:
    """All rows of a table that was written there."""
    shape = schema_of(table(name), unit="us")
    parts = (pq.read_table(path, schema=shape) for path in _parts(folder, name))
    return pa.concat_tables([shape.empty_table(), *parts])


def _parts(folder: str, name: str) -> list[Path]:
    return sorted(Path(folder, name).glob("[!._]*.parquet"))


def frame_of(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """The rows as a table of Spark that goes along with every question; one without any, too.

    Spark reads no further than to the first chunk without rows, so they are one chunk.
    """
    whole = rows.combine_chunks() if rows.num_rows else pa.Table.from_pylist([], rows.schema)
    return spark.createDataFrame(whole).coalesce(1)


def small_tables(
    spark: SparkSession, folder: str, rows: Mapping[str, int], selection: Selection, relays: Mapping[int, int]
) -> dict[str, DataFrame]:
    """Those of the tables that are small, without what relays have said; `relays`: as `analysis.relays_of` has them."""
    found = {}
    for name in NAMES:
        whole = None if name in TOGETHER else small_table(folder, name, rows[name])
        if whole is not None:
            kept = selection.of(whole) if name in _SELECTED else whole
            found[name] = partial(frame_of, spark, _marked(kept, relays) if name == "connections" else kept)
    return made_at_once(spark, found)


def made_at_once(spark: SparkSession, makers: Mapping[str, Callable[[], DataFrame]]) -> dict[str, DataFrame]:
    """Frames by their names, several of which Java makes at a time."""
    own = inheritable_thread_target(spark)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        begun = {name: pool.submit(own(make)) for name, make in makers.items()}
        return {name: future.result() for name, future in begun.items()}


@contextmanager
def one_task_each(spark: SparkSession, rows: int) -> Iterator[None]:
    """Questions to so many rows as one task each, where they are few."""
    if rows > _ONE_TASK:
        yield
        return
    before = {name: spark.conf.get(name, None) for name in _ALONE}
    for name, value in _ALONE.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, kept in before.items():
            if kept is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, kept)


def _marked(connections: pa.Table, relays: Mapping[int, int]) -> pa.Table:
    """The connections, each that is a relay with the one that it relays."""
    if not relays:
        return connections
    keys = pa.array(relays.keys(), pa.int64())
    column = pa.array(relays.values(), pa.int64()).take(pc.index_in(connections["connection"], keys).combine_chunks())
    place = connections.schema.get_field_index("relay_of")
    return connections.set_column(place, connections.schema.field(place), column)


def may_name(parts: Parts) -> bool:
    """Whether there is a topic id without its name, and the name somewhere else."""
    known: set[str] = set()
    for name in ("leaders", "partitions"):
        rows = parts[name].select(["topic_id", "topic"])
        known.update(rows.filter(pc.is_valid(rows["topic"]))["topic_id"].drop_null().to_pylist())
    if not known:
        return False
    ids = pa.array(sorted(known), pa.string())
    for name in ("partitions", "batches", "leaders"):
        nameless = parts[name]["topic_id"].filter(pc.is_null(parts[name]["topic"]))
        if pc.any(pc.is_in(nameless, ids)).as_py():
            return True
    return bool(pc.any(pc.is_in(pc.list_flatten(parts["exchanges"]["topics"]), ids)).as_py())


def plain_rows(table: pa.Table) -> tuple[dict[str, Any], ...]:
    """Every row as a dictionary."""
    return tuple({name: _plain(value) for name, value in row.items()} for row in table.to_pylist())


def _plain(value: Any) -> Any:
    if hasattr(value, "microsecond"):
        return (int(value.replace(microsecond=0).timestamp()) * 1_000_000 + value.microsecond) * 1000
    return tuple(value) if isinstance(value, list) else value
