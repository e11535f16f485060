"""The comparison itself: it must see a source that says something else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.scenarios.comparison import compare, markdown
from tests.scenarios.expectations import Case, Engine, ExpectedCell, Stack

ENGINE = Engine(version="20.10", proxy=True)


def stack(*cells: tuple[str, str, str]) -> Stack:
    return Stack(
        scenario="S00",
        file=Path("kraft.yml"),
        findings=(),
        broker_prints={},
        settled="ready",
        cells=tuple(ExpectedCell(vantage=v, bootstrap=b, cases=(Case(cell=c),)) for v, b, c in cells),
    )


def test_a_source_that_says_something_else_is_seen() -> None:
    one = stack(("H", "localhost:9092", "ok"), ("C", "localhost:9092", "bootstrap: refused"))
    result = compare(one, {"always-ok": lambda vantage, bootstrap: "ok"}, engine=ENGINE)
    assert [str(row) for row in result.disagreements()] == [
        "C localhost:9092: expected 'bootstrap: refused', always-ok 'ok'"
    ]
    assert (
        "2 cells in 1 stacks, 2 answers (1 with the reason, where there is one), "
        "1 asked again, 1 cells with a disagreement" in markdown([result])
    )
    assert "| C | `localhost:9092` | bootstrap: refused | ok | **differs** |" in markdown([result])


@pytest.mark.parametrize(
    ("word", "agrees"),
    [
        ("bootstrap: refused", True),
        ("bootstrap", True),
        ("bootstrap: unresolved", False),
        ("advertised", False),
        ("ok", False),
    ],
)
def test_a_source_may_leave_the_reason_out_but_not_give_another(word: str, agrees: bool) -> None:
    result = compare(stack(("H", "h:1", "bootstrap: refused")), {"it": lambda vantage, bootstrap: word}, engine=ENGINE)
    assert result.rows[0].agrees is agrees


def test_an_answer_that_does_not_fit_is_asked_for_once_more() -> None:
    late = iter(["advertised: no-brokers", "ok"])
    result = compare(stack(("H", "h:1", "ok")), {"slow": lambda vantage, bootstrap: next(late)}, engine=ENGINE)
    assert (result.disagreements(), result.asked_again) == ((), 1)


def test_a_source_is_asked_only_for_the_cells_chosen_for_it() -> None:
    one = stack(("H", "h:1", "ok"), ("H", "h:2", "ok"))
    result = compare(one, {"it": lambda v, b: "ok"}, engine=ENGINE, asks=lambda source, cell: cell.bootstrap == "h:1")
    assert [dict(row.said) for row in result.rows] == [{"it": "ok"}, {}]


def test_a_cell_needs_exactly_one_case_for_an_engine() -> None:
    cell = ExpectedCell(vantage="O", bootstrap="h:1", cases=(Case(cell="ok", proxies=(False,)),))
    with pytest.raises(ValueError, match="0 cases hold"):
        cell.on(ENGINE)


def test_kcat_may_say_what_it_is_known_to_say_and_nobody_else() -> None:
    cell = ExpectedCell(vantage="H", bootstrap="h:1", cases=(Case(cell="partial 1/3", kcat="wrong-broker"),))
    one = replace(stack(), cells=(cell,))
    assert compare(one, {"kcat": lambda v, b: "wrong-broker"}, engine=ENGINE).disagreements() == ()
    assert len(compare(one, {"java": lambda v, b: "wrong-broker"}, engine=ENGINE).disagreements()) == 1


@pytest.mark.parametrize(("word", "agrees"), [("bootstrap: closed", True), ("not-kafka", True), ("ok", False)])
def test_no_client_knows_that_what_answers_is_not_for_it(word: str, agrees: bool) -> None:
    result = compare(stack(("H", "h:1", "not-kafka")), {"it": lambda vantage, bootstrap: word}, engine=ENGINE)
    assert result.rows[0].agrees is agrees
