"""Programs hold what plans tell, and nothing for tables that nobody wants."""

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled.assembling import Code
from netdiag.traffic.engine.compiled.plans import ReadPlan, Unfit, WalkPlan
from netdiag.traffic.tables import NAMES

REQUEST, RESPONSE = wire.Direction


def _steps(plan: type, key: int, version: int, direction: wire.Direction, *tables: str) -> list[int]:
    code = Code(0)
    plan(code, key, direction, frozenset(tables)).message(wire.layout(key, version, direction))
    return code.finished()[:: do.SIZE]


def test_rows_are_made_for_whom_they_are_wanted() -> None:
    assert do.OPEN in _steps(ReadPlan, 1, 11, RESPONSE, "partitions")
    assert do.OPEN not in _steps(ReadPlan, 1, 11, RESPONSE, "exchanges")
    assert do.NUMBERS in _steps(ReadPlan, 9, 1, REQUEST, "partitions")
    assert do.NUMBERS not in _steps(ReadPlan, 9, 1, REQUEST, "exchanges")


def test_what_is_too_large_to_keep_is_read_field_by_field() -> None:
    assert do.STEP not in _steps(WalkPlan, 1, 11, RESPONSE, *NAMES)
    assert do.SKIP not in _steps(WalkPlan, 1, 11, RESPONSE, *NAMES)


@pytest.mark.parametrize(("key", "direction"), [(3, RESPONSE), (36, REQUEST), (14, RESPONSE), (32, REQUEST)])
def test_leaders_assignments_tokens_and_resources_have_no_place(key: int, direction: wire.Direction) -> None:
    if key == 36:
        assert _steps(ReadPlan, key, 0, direction, *NAMES)
        return
    with pytest.raises(Unfit):
        _steps(ReadPlan, key, 1, direction, *NAMES)
