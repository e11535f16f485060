"""Rows as an IPC stream of Arrow: the bytes of a schema, of record batches and of the end."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from netdiag.traffic.arrow import record_batch, schema_of
from netdiag.traffic.column import Table


class ArrowStream:
    """Encodes batch after batch; what it gives belongs one behind the other."""

    def __init__(self, shape: Table, names: Sequence[str]) -> None:
        self._shape = shape
        self._names = tuple(names)
        self._pieces = _Pieces()
        self._writer = pa.ipc.new_stream(pa.PythonFile(self._pieces, mode="w"), schema_of(shape, names))

    def encode(self, rows: Sequence[Sequence[Any]]) -> bytes:
        """The bytes of the next rows."""
        if rows:
            self._writer.write_batch(record_batch(self._shape, rows, self._names))
        return self._pieces.take()

    def end(self) -> bytes:
        """The bytes that end the stream."""
        self._writer.close()
        return self._pieces.take()


class _Pieces:
    """A file that keeps what is written to it until it is taken."""

    closed = False

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._written.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        pass

    def take(self) -> bytes:
        taken = b"".join(self._written)
        self._written.clear()
        return taken
