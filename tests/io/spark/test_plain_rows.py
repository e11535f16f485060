"""Rows of Arrow as plain values."""

import pyarrow as pa

from netdiag.io.spark.plain_rows import plain_rows


def test_times_are_nanoseconds_and_lists_are_tuples() -> None:
    table = pa.table(
        {
            "time": pa.array([1_700_000_000_123_456], pa.timestamp("us", tz="UTC")),
            "names": [["a", "b"]],
            "count": [None],
        }
    )
    assert plain_rows(table) == ({"time": 1_700_000_000_123_456_000, "names": ("a", "b"), "count": None},)
