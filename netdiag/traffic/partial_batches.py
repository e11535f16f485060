"""The same sums as `partials`, of record batches: columns to columns, without an object per exchange."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.histogram import PRECISION
from netdiag.traffic.partials import KEYS, SUMS
from netdiag.traffic.tables import table

# The columns of `exchanges` that are read.
COLUMNS = (
    *("api_name", "client", "client_id", "broker", "latency_ms"),
    *("request_bytes", "response_bytes", "outcome", "error_code"),
)
_MOST = 100_000
_EXACT = 2 * (1 << PRECISION)


class LatencyBatches:
    """Record batches of `latencies` out of those of `exchanges`."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._held: list[pa.Table] = []

    def add(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Count exchanges; gives batches when more rows are held than is good."""
        self._held.append(_added(_counted(batch)))
        if sum(each.num_rows for each in self._held) > self._most:
            whole = _added(pa.concat_tables(self._held))
            self._held = [whole]
            if 2 * whole.num_rows > self._most:
                yield from self.drain()

    def drain(self) -> Iterator[pa.RecordBatch]:
        """The sums so far."""
        held, self._held = self._held, []
        if held:
            yield from _added(pa.concat_tables(held)).to_batches()


def _counted(batch: pa.RecordBatch) -> pa.Table:
    """A row of `latencies` for every exchange."""
    sizes = [batch.column(name) for name in ("request_bytes", "response_bytes")]
    unanswered = pc.fill_null(pc.equal(batch.column("outcome"), "unanswered"), False)
    wrong = pc.fill_null(pc.not_equal(batch.column("error_code"), 0), False)
    taken = _nanoseconds(batch.column("latency_ms"))
    columns = {
        "api_name": batch.column("api_name"),
        "client": _hosts(batch.column("client")),
        "client_id": batch.column("client_id"),
        "broker": batch.column("broker"),
        "bucket": _buckets(taken),
        "requests": pc.is_valid(sizes[0]),
        "responses": pc.is_valid(sizes[1]),
        "unanswered": unanswered,
        "errors": wrong,
        "request_bytes": pc.fill_null(sizes[0], 0),
        "response_bytes": pc.fill_null(sizes[1], 0),
        "latency_ns": pc.fill_null(taken, 0),
    }
    shape = schema_of(table("latencies"), unit="us")
    return pa.table([pc.cast(column, shape.field(name).type) for name, column in columns.items()], schema=shape)


def _added(rows: pa.Table) -> pa.Table:
    """Rows that are alike as one."""
    sums = rows.group_by(list(KEYS), use_threads=False).aggregate([(name, "sum") for name in SUMS])
    shape = schema_of(table("latencies"), unit="us")
    columns = [sums.column(name if name in KEYS else f"{name}_sum") for name in shape.names]
    return pa.table(
        [column.cast(shape.field(name).type) for name, column in zip(shape.names, columns, strict=True)], schema=shape
    )


def _nanoseconds(milliseconds: pa.Array) -> pa.Array:
    """As `partials` rounds them."""
    rounded = pc.round(pc.multiply(milliseconds, 1e6), round_mode="half_to_even")
    return pc.max_element_wise(pc.cast(rounded, pa.int64()), 0, skip_nulls=False)


def _buckets(nanoseconds: pa.Array) -> pa.Array:
    """As `histogram.bucket_of`."""
    taken = pc.fill_null(nanoseconds, 0).to_numpy(zero_copy_only=False)
    # exact up to 2**53 ns, which are a hundred days
    bits = np.frexp(taken.astype(np.float64))[1].astype(np.int64)
    shift = np.maximum(bits - 1 - PRECISION, 0)
    found = np.where(taken < _EXACT, taken, (shift << PRECISION) + (taken >> shift))
    return pa.array(found, type=pa.int64(), mask=pc.is_null(nanoseconds).to_numpy(zero_copy_only=False))


def _hosts(clients: pa.Array) -> pa.Array:
    coded = pc.dictionary_encode(clients)
    hosts = [each.rpartition(":")[0].strip("[]") for each in coded.dictionary.to_pylist()]
    return pa.array(hosts, pa.string()).take(coded.indices)
