"""Texts by their numbers as an array of Arrow: what its own `take` gives, in a fifth of the time for short ones."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from netdiag.traffic.engine.compiled.copying import copy
from netdiag.traffic.engine.compiled.kernel import kernel

Numbers = npt.NDArray[Any]

_MOST = (1 << 31) - 1
_NONE = np.zeros(0, np.bool_)


def taken(texts: pa.StringArray, codes: Numbers, missing: Numbers | None, bitmap: pa.Buffer | None) -> pa.Array:
    """The texts of these numbers; `bitmap` is null where `missing` says so, and the number there may be any."""
    _, bounds_buffer, data_buffer = texts.buffers()
    codes = np.ascontiguousarray(codes, np.int32)
    if not len(texts) or texts.offset or data_buffer is None:
        numbers = pa.Array.from_buffers(pa.int32(), len(codes), [bitmap, pa.py_buffer(codes)])
        from pyarrow import compute  # slow to import

        return compute.take(texts, numbers, boundscheck=False)
    bounds, data = np.frombuffer(bounds_buffer, np.int32), np.frombuffer(data_buffer, np.uint8)
    offsets = np.empty(len(codes) + 1, np.int32)
    total, is_same = measure(codes, _NONE if missing is None else missing, bounds, len(texts), offsets)
    if total > _MOST:
        raise pa.ArrowInvalid("texts of more than 2 GB")
    if is_same:
        begin, end = (int(bounds[codes[0] + step]) for step in (0, 1))
        told = pa.py_buffer(data[begin:end].tobytes() * len(codes))
    else:
        made = np.empty(total, np.uint8)
        fill(codes, bounds, data, offsets, made)
        told = pa.py_buffer(made)
    return pa.Array.from_buffers(pa.string(), len(codes), [bitmap, pa.py_buffer(offsets), told])


@kernel
def measure(codes: Numbers, missing: Numbers, bounds: Numbers, known: Any, offsets: Numbers) -> Any:
    """Where each text begins; gives how many bytes there are, and whether all are the same text.

    Of what is missing there are none.
    """
    total = np.int64(0)
    is_same = len(codes) > 0
    for index in range(len(codes)):
        offsets[index] = min(total, _MOST)
        code = np.int64(codes[index])
        if len(missing) and missing[index]:
            is_same = False
        elif 0 <= code < known:
            total += bounds[code + 1] - bounds[code]
            if code != codes[0]:
                is_same = False
        else:
            is_same = False
    offsets[len(codes)] = min(total, _MOST)
    return total, is_same


@kernel
def fill(codes: Numbers, bounds: Numbers, data: Numbers, offsets: Numbers, made: Numbers) -> None:
    """Put the texts where they begin."""
    for index in range(len(codes)):
        size = offsets[index + 1] - offsets[index]
        if size:
            copy(made, offsets[index], data, bounds[codes[index]], size)
