"""The static half of every scenario: findings exactly as expected, and every predicted cell."""

import pytest

from tests.scenarios.expectations import Engine, Stack, stacks
from tests.scenarios.predicted import prediction

STACKS = tuple(stacks())
ENGINE = Engine(version="20.10", proxy=True)


@pytest.mark.bar("static")
@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.name)
def test_findings_are_exactly_those_expected(stack: Stack) -> None:
    assert sorted(map(str, prediction(stack).serious())) == sorted(map(str, stack.findings))


@pytest.mark.bar("broker-prints")
@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.name)
def test_a_broker_that_is_to_refuse_is_predicted_with_its_sentence(stack: Stack) -> None:
    said = {f.service: f.broker_prints for f in prediction(stack).findings if f.broker_prints}
    assert said.keys() == stack.broker_prints.keys()
    for broker, sentence in stack.broker_prints.items():
        assert said[broker] in sentence


@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.name)
def test_every_cell_is_predicted(stack: Stack) -> None:
    made = prediction(stack)
    wrong = {
        f"{cell.vantage} {cell.bootstrap}": (cell.from_file(ENGINE), said)
        for cell in stack.cells
        if (said := made.cell(cell.vantage, cell.bootstrap)) != cell.from_file(ENGINE)
    }
    assert wrong == {}
