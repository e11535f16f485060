"""Fields of fixed size become runs, those of no interest are stepped over."""

import pytest

from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled.assembling import Code, TooMuch


def _steps(code: Code) -> list[list[int]]:
    numbers = code.finished()
    return [numbers[at : at + do.SIZE] for at in range(0, len(numbers), do.SIZE)]


def test_a_run_is_gathered_as_one() -> None:
    code = Code(5)
    code.fixed(do.INT32)
    code.fixed(do.INT16, do.LENGTH, (do.SCALAR, 7))
    code.fixed(do.INT64)
    code.fixed(do.UUID)
    assert code.here() == 10
    assert _steps(code) == [
        [do.NEED, 30, 0, 0],
        [do.STEP, 4, 0, 0],
        [do.READ, do.INT16, do.LENGTH, 0],
        [do.DO, 0, do.SCALAR, 7],
        [do.STEP, 24, 0, 0],
    ]


def test_what_nobody_wants_is_skipped() -> None:
    code = Code(0)
    code.fixed(do.INT32)
    code.fixed(do.INT64)
    assert _steps(code) == [[do.SKIP, 12, 0, 0]]


def test_alone_each_field_is_gathered_by_itself() -> None:
    code = Code(0, alone=True)
    code.fixed(do.INT32)
    code.fixed(do.INT64)
    assert [step[:2] for step in _steps(code)] == [[do.NEED, 4], [do.READ, do.INT32], [do.NEED, 8], [do.READ, do.INT64]]


def test_what_a_machine_cannot_hold() -> None:
    code = Code(0)
    for _ in range(17):
        code.fixed(do.INT64, do.THROUGH)
    with pytest.raises(TooMuch):
        code.flush()
