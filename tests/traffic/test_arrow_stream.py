"""What is encoded is what Arrow reads back."""

import pyarrow as pa

from netdiag.traffic.arrow_stream import ArrowStream
from netdiag.traffic.tables import table

LOSSES = table("losses")
ROW = ("a", 5, None, None, "gap", 10, 1, None)


def test_batches_of_some_columns() -> None:
    stream = ArrowStream(LOSSES, ["bytes", "time"])
    data = stream.encode([ROW, ROW]) + stream.encode([]) + stream.encode([ROW]) + stream.end()
    read = pa.ipc.open_stream(data).read_all()
    assert read.column_names == ["bytes", "time"]
    assert read["bytes"].to_pylist() == [10, 10, 10]
    assert read.schema.field("time").type == pa.timestamp("ns", tz="UTC")


def test_no_rows_are_a_stream_too() -> None:
    stream = ArrowStream(LOSSES, LOSSES.names)
    assert pa.ipc.open_stream(stream.encode([]) + stream.end()).read_all().num_rows == 0
