"""Batches of rows as an IPC stream of Arrow: the bytes of a schema, of record batches and of the end."""

from collections.abc import Sequence

import pyarrow as pa

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.column import Table

# Of the format: the mark of a message, and no length behind it.
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"


class ArrowStream:
    """Encodes batch after batch; what it gives belongs one behind the other."""

    def __init__(self, shape: Table, names: Sequence[str]) -> None:
        self._schema = schema_of(shape, names)
        # What batches are encoded in, one after the other: new memory for each costs more than encoding it.
        self._buffer = pa.allocate_buffer(0)

    def begin(self) -> memoryview:
        """The bytes that begin the stream."""
        return memoryview(self._schema.serialize())

    def encode(self, batch: pa.RecordBatch) -> memoryview:
        """The bytes of the next rows, which have the columns of the stream; good until the next batch."""
        if not batch.schema.equals(self._schema):
            raise ValueError("a batch of other columns")
        # A writer of Arrow's begins with the schema.
        begin = self._schema.serialize().size
        needed = begin + pa.ipc.get_record_batch_size(batch) + len(_END)
        if needed > self._buffer.size:
            self._buffer = pa.allocate_buffer(needed + needed // 4)
        sink = pa.FixedSizeBufferWriter(self._buffer)
        with pa.ipc.new_stream(sink, self._schema) as writer:
            writer.write_batch(batch)
            end = sink.tell()
        return memoryview(self._buffer)[begin:end]

    def end(self) -> bytes:
        """The bytes that end the stream."""
        return _END
