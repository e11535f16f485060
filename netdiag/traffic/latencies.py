"""The table `latencies`: exchanges summed up where they are read, by client, broker, api and bucket of latency.

Sums of whole numbers, so rows of several tasks may be added in any order and come to the same. A bucket is as wide as
a 128th of the power of two below it, so its middle is within 0.4 % of every duration in it; there is no logarithm in
it, so that every machine finds the same one.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds import mapped
from netdiag.traffic.tables import table

EXCHANGE_COLUMNS = (
    *("api_name", "client", "client_id", "broker", "latency_ms"),
    *("request_bytes", "response_bytes", "outcome", "error_code"),
)
"""What is read of `exchanges`."""
KEYS = ("api_name", "client", "client_id", "broker")
SUMS = ("requests", "responses", "unanswered", "errors", "request_bytes", "response_bytes")
# 2**7 buckets between a power of two and the next.
_PRECISION = 7
_EXACT = 2 * (1 << _PRECISION)
_NS_PER_MS = 1e6
_PERCENTS = (50, 95, 99)
# Bytes: names of clients may have 32 kB each.
_LARGE = 1 << 26


def latencies(exchanges: Iterable[pa.RecordBatch], most: int = 100_000) -> Iterator[pa.RecordBatch]:
    """Rows of `latencies` out of those of `exchanges`. More than `most` are given, and begun anew."""
    held = _shape().empty_table()
    # A batch is small, and adding takes as long as what is held: so many rows are added at once.
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in exchanges:
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows < most and size < _LARGE:
            continue
        held = _added(pa.concat_tables([held, _counted(waiting)]))
        waiting, rows, size = [], 0, 0
        if held.num_rows > most or held.nbytes > _LARGE:
            yield from held.to_batches()
            held = _shape().empty_table()
    if waiting:
        held = _added(pa.concat_tables([held, _counted(waiting)]))
    yield from held.to_batches()


def merged(latencies: DataFrame) -> DataFrame:
    """The rows of all tasks, one per key and bucket."""
    sums = [F.sum(name).alias(name) for name in (*SUMS, "latency_ns")]
    return latencies.groupBy(*KEYS, "bucket").agg(*sums)


def percentiles(latencies: DataFrame, *keys: str) -> DataFrame:
    """Counts, bytes, the mean latency and its percentiles (ms, within 0.4 %) by these keys, all four by default."""
    middle = _middle(F.col("bucket")) / F.lit(_NS_PER_MS)
    weight = F.when(F.col("bucket").isNotNull(), F.col("responses")).otherwise(F.lit(0))
    return latencies.groupBy(*(keys or KEYS)).agg(
        *[F.sum(name).alias(name) for name in SUMS],
        (F.sum("latency_ns") / F.sum(weight) / F.lit(_NS_PER_MS)).alias("latency_mean_ms"),
        *[F.percentile(middle, F.lit(percent / 100), weight).alias(f"latency_p{percent}_ms") for percent in _PERCENTS],
        F.max(middle).alias("latency_max_ms"),
    )


def _counted(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """A row of `latencies` for every exchange."""
    rows = pa.Table.from_batches(batches).combine_chunks()
    taken = _nanoseconds(rows["latency_ms"])
    columns = {
        "api_name": rows["api_name"],
        "client": mapped(rows["client"], lambda text: text.rpartition(":")[0].strip("[]")),
        "client_id": rows["client_id"],
        "broker": rows["broker"],
        "bucket": _buckets(taken),
        "requests": pc.is_valid(rows["request_bytes"]),
        "responses": pc.is_valid(rows["response_bytes"]),
        "unanswered": pc.fill_null(pc.equal(rows["outcome"], "unanswered"), False),
        "errors": pc.fill_null(pc.not_equal(rows["error_code"], 0), False),
        "request_bytes": pc.fill_null(rows["request_bytes"], 0),
        "response_bytes": pc.fill_null(rows["response_bytes"], 0),
        "latency_ns": pc.fill_null(taken, 0),
    }
    return pa.table({name: column.cast(_shape().field(name).type) for name, column in columns.items()}, _shape())


def _added(rows: pa.Table) -> pa.Table:
    """A row for each key and bucket."""
    sums = (*SUMS, "latency_ns")
    grouped = rows.group_by([*KEYS, "bucket"], use_threads=False).aggregate([(name, "sum") for name in sums])
    return grouped.rename_columns({f"{name}_sum": name for name in sums}).select(_shape().names).cast(_shape())


def _shape() -> pa.Schema:
    return schema_of(table("latencies"), unit="us")


def _nanoseconds(milliseconds: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whole ones again, without a rest up to months; what is below zero (clocks) counts as zero."""
    rounded = pc.round(pc.multiply(milliseconds, _NS_PER_MS), round_mode="half_to_even")
    return pc.max_element_wise(pc.cast(rounded, pa.int64()), 0, skip_nulls=False)


def _buckets(nanoseconds: pa.ChunkedArray) -> pa.Array:
    taken = pc.fill_null(nanoseconds, 0).to_numpy()
    # exact up to 2**53 ns, which are a hundred days
    bits = np.frexp(taken.astype(np.float64))[1].astype(np.int64)
    shift = np.maximum(bits - 1 - _PRECISION, 0)
    found = np.where(taken < _EXACT, taken, (shift << _PRECISION) + (taken >> shift))
    return pa.array(found, type=pa.int64(), mask=pc.is_null(nanoseconds).to_numpy())


def _middle(bucket: Column) -> Column:
    """The duration in nanoseconds that a bucket stands for."""
    shift = F.shiftright(bucket.cast("int"), _PRECISION) - 1
    low = bucket - F.shiftleft(F.lit(1), _PRECISION) * shift
    return F.when(shift > 0, (low + 0.5) * F.pow(F.lit(2.0), shift)).otherwise(bucket.cast("double"))
