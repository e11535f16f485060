"""What is encoded is what Arrow reads back."""

import pyarrow as pa
import pytest

from netdiag.traffic.arrow import record_batch
from netdiag.traffic.arrow_stream import ArrowStream
from netdiag.traffic.tables import table

LOSSES = table("losses")
ROW = ("a", 5, None, None, "gap", 10, 1, None)
NAMES = ["bytes", "time"]


def test_batches_of_some_columns() -> None:
    stream = ArrowStream(LOSSES, NAMES)
    batches = [record_batch(LOSSES, rows, NAMES) for rows in ([ROW, ROW], [], [ROW])]
    data = b"".join([bytes(stream.begin()), *(bytes(stream.encode(batch)) for batch in batches), stream.end()])
    read = pa.ipc.open_stream(data).read_all()
    assert read.column_names == NAMES
    assert read["bytes"].to_pylist() == [10, 10, 10]
    assert read.schema.field("time").type == pa.timestamp("ns", tz="UTC")


def test_each_batch_is_what_arrow_itself_says_whatever_its_size() -> None:
    stream = ArrowStream(LOSSES, NAMES)
    for count in (1, 1000, 3, 0, 5000):
        batch = record_batch(LOSSES, [ROW] * count, NAMES)
        assert bytes(stream.encode(batch)) == bytes(memoryview(batch.serialize()))


def test_no_rows_are_a_stream_too() -> None:
    stream = ArrowStream(LOSSES, LOSSES.names)
    assert pa.ipc.open_stream(b"".join([stream.begin(), stream.end()])).read_all().num_rows == 0


def test_another_batch_has_no_place_in_it() -> None:
    with pytest.raises(ValueError, match="other columns"):
        ArrowStream(LOSSES, NAMES).encode(record_batch(LOSSES, [ROW]))
