"""Rows that are records of numbers as columns of Arrow, without an object for any of them.

A text is a number that somebody knows the text of, a list of texts begins and ends in an array of such numbers. A value
that is not there is told by its bit of `present`: the place of its column in the table.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from netdiag.traffic.arrow import Unit, schema_of
from netdiag.traffic.column import Column, Kind, Table

Rows = npt.NDArray[np.void]
Numbers = npt.NDArray[Any]

Texts = Callable[[Numbers, Numbers | None, pa.Buffer | None], pa.Array]
"""Gives the texts of numbers: which of them are missing, told twice, the second time as Arrow has it."""

_LIST = 2
_STORED: dict[Kind, Any] = {
    Kind.BOOL: "u1",
    Kind.INT16: "i2",
    Kind.INT32: "i4",
    Kind.INT64: "i8",
    Kind.FLOAT64: "f8",
    Kind.STRING: "i4",
    Kind.TIME: "i8",
}
_PER_MICROSECOND = 1000


def record_type(table: Table) -> np.dtype[np.void]:
    """The record that holds a row of a table: a field for every column, the widest first, and `present`."""
    fields: list[Any] = [("present", "u8")]
    for column in table.columns:
        fields.append(
            (column.name, "i4", (_LIST,)) if column.kind is Kind.STRINGS else (column.name, _STORED[column.kind])
        )
    fields.sort(key=lambda field: -np.dtype(field[1]).itemsize)
    return np.dtype(fields, align=True)


def batch_of(
    table: Table,
    names: Sequence[str],
    rows: Rows,
    *,
    texts: Texts,
    listed: Numbers,
    unit: Unit = "ns",
) -> pa.RecordBatch:
    """The columns asked for of these rows; `listed` are the numbers of the texts in lists."""
    places = {column.name: place for place, column in enumerate(table.columns)}
    present = np.ascontiguousarray(rows["present"])
    # Most columns are there in all rows or in none; only the others are looked at row by row.
    everywhere, somewhere = int(np.bitwise_and.reduce(present)), int(np.bitwise_or.reduce(present))
    arrays = []
    for name in names:
        column = table.columns[places[name]]
        bit = 1 << places[name]
        if column.required or everywhere & bit:
            arrays.append(_array(column, rows[name], None, texts, listed, unit))
        elif not somewhere & bit:
            arrays.append(pa.nulls(len(rows), _type_of(column, unit)))
        else:
            arrays.append(_array(column, rows[name], present & np.uint64(bit) == 0, texts, listed, unit))
    if not arrays:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * len(rows), pa.struct([])))
    return pa.RecordBatch.from_arrays(arrays, schema=schema_of(table, names, unit=unit))


def _array(
    column: Column, values: Numbers, missing: Numbers | None, texts: Texts, listed: Numbers, unit: Unit
) -> pa.Array:
    match column.kind:
        case Kind.STRING:
            return _texts(values, missing, texts)
        case Kind.STRINGS:
            return _lists(values, missing, texts, listed)
        case Kind.TIME:
            return _times(values, missing, unit)
        case Kind.BOOL:
            bits = np.packbits(values.astype(bool), bitorder="little")
            return pa.Array.from_buffers(pa.bool_(), len(values), [_bitmap(missing), pa.py_buffer(bits)])
        case _:
            return pa.Array.from_buffers(_type_of(column, unit), len(values), [_bitmap(missing), _buffer(values)])


def _times(values: Numbers, missing: Numbers | None, unit: Unit) -> pa.Array:
    if unit == "us":
        # Cut towards zero, as Arrow does.
        values = np.where(values < 0, -(-values // _PER_MICROSECOND), values // _PER_MICROSECOND)
    return pa.Array.from_buffers(pa.timestamp(unit, tz="UTC"), len(values), [_bitmap(missing), _buffer(values)])


def _texts(codes: Numbers, missing: Numbers | None, texts: Texts) -> pa.Array:
    return texts(codes, missing, _bitmap(missing))


def _lists(ranges: Numbers, missing: Numbers | None, texts: Texts, listed: Numbers) -> pa.Array:
    """Of ranges that follow one another in `listed`; of one that is not there begin and end are the same."""
    first = ranges[0, 0] if len(ranges) else 0
    offsets = np.empty(len(ranges) + 1, np.int32)
    offsets[:-1] = ranges[:, 0]
    offsets[-1] = ranges[-1, 1] if len(ranges) else 0
    values = texts(listed[first : offsets[-1]], None, None)
    kind = pa.list_(pa.field("element", pa.string()))
    return pa.Array.from_buffers(kind, len(ranges), [_bitmap(missing), _buffer(offsets - first)], children=[values])


def _bitmap(missing: Numbers | None) -> pa.Buffer | None:
    return None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))


def _buffer(values: Numbers) -> pa.Buffer:
    # A copy always: the rows are written again.
    return pa.py_buffer(np.array(values, order="C"))


def _type_of(column: Column, unit: Unit) -> pa.DataType:
    return schema_of(Table(name="", doc="", columns=(column,)), unit=unit).field(0).type
