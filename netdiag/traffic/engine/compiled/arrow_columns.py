"""Rows that are records of numbers as columns of Arrow, without an object for any of them.

A text is a number that somebody knows the text of, a list of texts begins and ends in an array of such numbers. A value
that is not there is told by its bit of `present`: the place of its column in the table.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from netdiag.traffic.arrow import Unit, schema_of
from netdiag.traffic.column import Column, Kind, Table
from netdiag.traffic.engine.compiled.spreading import absences, common, spread

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
_WORD = 8


class _Absence(NamedTuple):
    """Which values are missing, told twice, the second time as Arrow has it; None where none is."""

    missing: Numbers | None
    bitmap: pa.Buffer | None


_NONE = _Absence(None, None)


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
    present = spread(rows, ("present",))["present"]
    # Most columns are there in all rows or in none; only the others are looked at row by row.
    everywhere, somewhere = common(present)
    bits = {name: 0 if table.columns[place].required else 1 << place for name, place in places.items()}
    found = spread(rows, [name for name in names if not bits[name] or somewhere & bits[name]])
    lacking = _absences(present, {name: bits[name] for name in found if everywhere & bits[name] != bits[name]})
    arrays = []
    for name in names:
        column = table.columns[places[name]]
        if name not in found:
            arrays.append(pa.nulls(len(rows), _type_of(column, unit)))
        else:
            arrays.append(_array(column, found[name], lacking.get(name, _NONE), texts, listed, unit))
    if not arrays:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * len(rows), pa.struct([])))
    return pa.RecordBatch.from_arrays(arrays, schema=schema_of(table, names, unit=unit))


def _array(column: Column, values: Numbers, absence: _Absence, texts: Texts, listed: Numbers, unit: Unit) -> pa.Array:
    match column.kind:
        case Kind.STRING:
            return texts(values, *absence)
        case Kind.STRINGS:
            return _lists(values, absence, texts, listed)
        case Kind.TIME:
            return _times(values, absence, unit)
        case Kind.BOOL:
            bits = np.packbits(values.astype(bool), bitorder="little")
            return pa.Array.from_buffers(pa.bool_(), len(values), [absence.bitmap, pa.py_buffer(bits)])
        case _:
            return pa.Array.from_buffers(_type_of(column, unit), len(values), [absence.bitmap, pa.py_buffer(values)])


def _times(values: Numbers, absence: _Absence, unit: Unit) -> pa.Array:
    if unit == "us":
        # Cut towards zero, as Arrow does.
        values = np.where(values < 0, -(-values // _PER_MICROSECOND), values // _PER_MICROSECOND)
    kind = pa.timestamp(unit, tz="UTC")
    return pa.Array.from_buffers(kind, len(values), [absence.bitmap, pa.py_buffer(values)])


def _lists(ranges: Numbers, absence: _Absence, texts: Texts, listed: Numbers) -> pa.Array:
    """Of ranges that follow one another in `listed`; of one that is not there begin and end are the same."""
    first = ranges[0, 0] if len(ranges) else 0
    offsets = np.empty(len(ranges) + 1, np.int32)
    offsets[:-1] = ranges[:, 0]
    offsets[-1] = ranges[-1, 1] if len(ranges) else 0
    values = texts(listed[first : offsets[-1]], None, None)
    offsets -= first
    kind = pa.list_(pa.field("element", pa.string()))
    return pa.Array.from_buffers(kind, len(ranges), [absence.bitmap, pa.py_buffer(offsets)], children=[values])


def _absences(present: Numbers, bits: dict[str, int]) -> dict[str, _Absence]:
    """By name of the column."""
    if not bits:
        return {}
    missing = np.empty((len(bits), len(present)), np.bool_)
    size = -(-len(present) // 8)
    # Each begins where a word does.
    bitmaps = np.empty((len(bits), -(-size // _WORD) * _WORD), np.uint8)
    absences(present, np.array([*bits.values()], np.uint64), missing, bitmaps)
    return {name: _Absence(missing[at], pa.py_buffer(bitmaps[at, :size])) for at, name in enumerate(bits)}


@cache
def _type_of(column: Column, unit: Unit) -> pa.DataType:
    return schema_of(Table(name="", doc="", columns=(column,)), unit=unit).field(0).type
