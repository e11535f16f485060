"""Which source is asked for which cell."""

from pathlib import Path

import pytest

from tests.scenarios.expectations import Case, Engine, ExpectedCell, Stack
from tests.scenarios.meeting import asked
from tests.scenarios.netdiag_says import OBSERVED, PREDICTED, PREDICTED_LIVE

ENGINE = Engine(version="20.10", proxy=True)


def cell(bootstrap: str, *, from_file: str | None = None, predicted: str | None = None) -> ExpectedCell:
    case = Case(cell="ok", from_file=from_file, predicted=predicted)
    return ExpectedCell(vantage="H", bootstrap=bootstrap, cases=(case,))


CELLS = (cell("h:1"), cell("h:2", from_file="unknown"), cell("h:3", predicted="unknown"))
STACK = Stack(scenario="S00", file=Path("kraft.yml"), findings=(), broker_prints={}, settled="ready", cells=CELLS)


@pytest.mark.parametrize(
    ("source", "answers"),
    [
        (PREDICTED, [True, False, False]),
        (PREDICTED_LIVE, [True, True, False]),
        (OBSERVED, [True, True, True]),
        ("kcat", [True, False, False]),
        ("java", [True, False, False]),
    ],
)
def test_a_source_is_asked_for_what_it_can_know(source: str, answers: list[bool]) -> None:
    asks = asked(STACK, ENGINE, everything=False)
    assert [asks(source, one) for one in CELLS] == answers


def test_every_client_is_asked_for_everything_where_that_is_wanted() -> None:
    asks = asked(STACK, ENGINE, everything=True)
    assert all(asks(source, one) for source in ("kcat", "java", "kafka-python") for one in CELLS)
