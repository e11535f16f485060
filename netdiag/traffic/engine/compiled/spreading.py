"""Columns out of records: each field becomes an array of its own, all of them in one go over the records.

So the lock of the interpreter is needed once, and not for every column; threads wait for it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.compiled.kernel import kernel

Numbers = npt.NDArray[Any]

_WIDTHS = (1, 2, 4, 8)
_EVEN = 64
# Larger arrays would be new memory of the system's each time.
_MOST = 15 << 16
# So many records at a time stay in the nearest memory.
_AT_A_TIME = 64


def spread(rows: Numbers, names: Sequence[str]) -> dict[str, Numbers]:
    """The fields of these names, of records whose size is a multiple of 8; nobody else has these arrays."""
    made: dict[str, Numbers] = {}
    count, step = len(rows), rows.dtype.itemsize
    fields: Any = rows.dtype.fields
    sources = _as_numbers(rows.view(np.uint8).reshape(-1))
    group: list[tuple[str, Any, int, int]] = []
    used = 0
    for name in names:
        kind, offset = fields[name][:2]
        size = -(-kind.itemsize * count // _EVEN) * _EVEN
        if group and used + size > _MOST:
            made.update(_spread(sources, step, count, group, used))
            group, used = [], 0
        group.append((name, kind, offset, used))
        used += size
    made.update(_spread(sources, step, count, group, used))
    return made


def _spread(
    sources: tuple[Numbers, ...], step: int, count: int, group: list[tuple[str, Any, int, int]], size: int
) -> dict[str, Numbers]:
    area = np.empty(size, np.uint8)
    # Of a field that holds several numbers each is one by itself, and they lie beside each other again.
    fields = [
        (offset + inner, kind.base.itemsize, at + inner, kind.itemsize // kind.base.itemsize)
        for _, kind, offset, at in group
        for inner in range(0, kind.itemsize, kind.base.itemsize)
    ]
    fill_columns(sources, step, count, np.array(fields, np.int64).reshape(-1, 4), _as_numbers(area))
    return {
        name: area[at : at + kind.itemsize * count].view(kind.base).reshape((count, *kind.shape))
        for name, kind, _, at in group
    }


def _as_numbers(area: Numbers) -> tuple[Numbers, ...]:
    return tuple(area.view(f"u{width}") for width in _WIDTHS)


@kernel
def fill_columns(sources: Any, step: Any, count: Any, fields: Numbers, targets: Any) -> None:
    """Each of `fields`: where it lies in a record of `step` bytes, its width, where it goes, and every how many."""
    for begin in range(0, count, _AT_A_TIME):
        end = min(count, begin + _AT_A_TIME)
        for field in range(len(fields)):
            offset, width, to, each = fields[field, 0], fields[field, 1], fields[field, 2], fields[field, 3]
            if width == 8:
                _fill(sources[3], offset >> 3, step >> 3, targets[3], to >> 3, each, begin, end)
            elif width == 4:
                _fill(sources[2], offset >> 2, step >> 2, targets[2], to >> 2, each, begin, end)
            elif width == 2:
                _fill(sources[1], offset >> 1, step >> 1, targets[1], to >> 1, each, begin, end)
            else:
                _fill(sources[0], offset, step, targets[0], to, each, begin, end)


@kernel
def _fill(source: Numbers, offset: Any, step: Any, target: Numbers, to: Any, each: Any, begin: Any, end: Any) -> None:
    for index in range(np.uint64(begin), np.uint64(end)):
        target[np.uint64(to) + index * np.uint64(each)] = source[np.uint64(offset) + index * np.uint64(step)]


@kernel
def common(present: Numbers) -> Any:
    """The bits that are there in all records, and those that are in some."""
    everywhere, somewhere = ~np.uint64(0), np.uint64(0)
    for index in range(len(present)):
        everywhere &= present[index]
        somewhere |= present[index]
    return everywhere, somewhere


@kernel
def absences(present: Numbers, bits: Numbers, missing: Numbers, bitmaps: Numbers) -> None:
    """For each of `bits` a row of `missing` and one of `bitmaps`, of as many records."""
    for place in range(len(bits)):
        absent(present, bits[place], missing[place], bitmaps[place])


@kernel
def absent(present: Numbers, bit: Any, missing: Numbers, bitmap: Numbers) -> None:
    """Of which records a bit is missing; and as Arrow says it: a bit is there for each that is, the lowest first."""
    mask = np.uint64(bit)
    for index in range(len(bitmap)):
        bitmap[index] = 0
    for index in range(len(present)):
        is_missing = present[index] & mask == 0
        missing[index] = is_missing
        if not is_missing:
            bitmap[index >> 3] |= 1 << (index & 7)
