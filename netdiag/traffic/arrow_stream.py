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

    def begin(self) -> memoryview:
        """The bytes that begin the stream."""
        return memoryview(self._schema.serialize())

    def encode(self, batch: pa.RecordBatch) -> memoryview:
        """The bytes of the next rows, which have the columns of the stream."""
        if not batch.schema.equals(self._schema):
            raise ValueError("a batch of other columns")
        return memoryview(batch.serialize())

    def end(self) -> bytes:
        """The bytes that end the stream."""
        return _END
