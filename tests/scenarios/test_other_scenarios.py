"""The scenarios about networks, published ports, starts and dependents on a real engine, cell by cell.

predicted = observed = what real clients get. `make test` starts one stack of each scenario, where netdiag says every
cell, and kcat one of each kind; `make bars BARS=scenarios` starts all, and asks every client for every cell.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.stack import Stack as Running
from tests.scenarios.comparison import compare
from tests.scenarios.expectations import Engine, ExpectedCell, Stack, stacks
from tests.scenarios.netdiag_says import NETDIAG, PREDICTED, netdiag_says
from tests.scenarios.stand_ins import stand_ins
from tests.scenarios.standing import clients

ENGINE = Engine(version="20.10", proxy=True)
QUICK = ("S11/kraft.broken", "S12/kraft.broken", "S13/kraft.repaired")
ELSEWHERE = ("S01", "S02", "S03", "S04", "S07", "S08")
STACKS = [stack for stack in stacks() if stack.scenario not in ELSEWHERE]


def _parameter(stack: Stack) -> object:
    marks = () if stack.name in QUICK else (pytest.mark.bar("scenarios", long=True),)
    return pytest.param(stack, marks=marks, id=stack.name)


@pytest.fixture(scope="module", params=[_parameter(stack) for stack in STACKS])
def stack(request: pytest.FixtureRequest) -> Stack:
    """Each stack in turn."""
    chosen: Stack = request.param
    return chosen


@pytest.fixture(scope="module")
def running(lab: Lab, stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The stack on the engine, at rest; gone before the next comes up."""
    over = stand_ins(stack.file, tmp_path_factory.mktemp("over"))
    with lab.up(stack.file, override_files=over, wait="ready" if stack.settled == "ready" else "settled") as up:
        yield up


@pytest.mark.bar("scenarios")
def test_netdiag_and_real_clients_say_what_is_expected(
    lab: Lab, stack: Stack, running: Running, figure: Report, pytestconfig: pytest.Config
) -> None:
    began = time.monotonic()
    sources = {**clients(lab, running, stack), **netdiag_says(running, stack)}
    everything = pytestconfig.getoption("--bar") == "scenarios"
    result = compare(stack, sources, engine=ENGINE, asks=_asked(stack, everything=everything), at_once=12)
    figure(f"{stack.name}: cells", len(result.rows))
    figure(f"{stack.name}: answers of netdiag and of real clients", sum(len(row.said) for row in result.rows))
    figure(f"{stack.name}: answers asked for again", result.asked_again)
    figure(f"{stack.name}: clients", time.monotonic() - began, "s")
    assert [str(row) for row in result.disagreements()] == []


def _asked(stack: Stack, *, everything: bool) -> Callable[[str, ExpectedCell], bool]:
    """Which source is asked for which cell: the file only for what can be told from a file."""
    kinds: dict[str, ExpectedCell] = {}
    for cell in stack.cells:
        kinds.setdefault(cell.on(ENGINE), cell)

    def asks(source: str, cell: ExpectedCell) -> bool:
        if source == PREDICTED:
            return cell.from_file(ENGINE) == cell.on(ENGINE)
        return everything or source in NETDIAG or (source == "kcat" and cell in kinds.values())

    return asks
