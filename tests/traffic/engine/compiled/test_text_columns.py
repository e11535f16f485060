"""Texts by number are those that Arrow itself takes."""

import random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from netdiag.traffic.engine.compiled.text_columns import taken

TEXTS = pa.array(["", "a", "ä" * 9, "broker:9092", "x" * 300, "ΩΩ"], pa.string())


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
@pytest.mark.parametrize("kinds", [1, 2, 6])
@pytest.mark.parametrize("share", [None, 0.0, 0.3, 1.0])
def test_as_arrow_takes_them(count: int, kinds: int, share: float | None) -> None:
    dice = random.Random(f"{count} {kinds} {share}")
    for _ in range(5):
        chosen = dice.sample(range(len(TEXTS)), kinds)
        # Of a record, so not behind one another.
        records = np.zeros(count, [("before", "i8"), ("code", "i4")])
        records["code"] = [dice.choice(chosen) for _ in range(count)]
        missing = None if share is None else np.array([dice.random() < share for _ in range(count)], np.bool_)
        expected = pc.take(TEXTS, pa.array(records["code"], mask=missing))
        bitmap = None
        if missing is not None:
            bitmap = pa.py_buffer(np.packbits(~missing, bitorder="little"))
            records["code"][missing] = dice.choice((-7, 1 << 30))
        found = taken(TEXTS, records["code"], missing, bitmap)
        found.validate(full=True)
        assert found.equals(expected)


def test_of_no_texts_there_are_none() -> None:
    nothing = pa.array([], pa.string())
    assert taken(nothing, np.zeros(0, np.int32), None, None).to_pylist() == []
    assert taken(pa.array(["", ""]), np.array([1, 0], np.int32), None, None).to_pylist() == ["", ""]
