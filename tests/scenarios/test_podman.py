"""The scenarios on Podman as root: `make bars BARS=podman`, and two stacks of them in `make test`.

Nothing is written down of what Podman does: predicted from the engine = observed = what kcat gets, in every cell. From
the file, where more depends on the machine and on who creates the networks, what is not unknown is observed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.figures import Report
from tests.lab.lab import Lab
from tests.scenarios.comparison import compare
from tests.scenarios.expectations import Case, Engine, ExpectedCell, Stack, stacks
from tests.scenarios.netdiag_cells import OBSERVED, PREDICTED, PREDICTED_LIVE, netdiag_says
from tests.scenarios.real_clients import clients
from tests.scenarios.running_stack import started_stack

_ENGINE = Engine(version="4.3", proxy=False, platform="podman")
_SCENARIOS = tuple(f"S{number:02}" for number in range(2, 17))
# Stacks that an engine refuses are about that engine's words.
_STACKS = [
    stack
    for stack in stacks()
    if stack.scenario[:3] in _SCENARIOS and "kraft" in stack.file.name and not stack.refusals
]
# On two networks, chance decides which address the own name of a broker is, and where a published port leads to.
_BY_CHANCE = ("S03/kraft.broken", "S03/kraft.repaired", "S03/kraft.own-name", "S11/kraft.broken", "S11/kraft.repaired")
# The routes of the LAN machine decide about an address of a Docker network, with any engine.
_NOT_MODELLED = ("S06/kraft.gateway",)
_SHORT = ("S13/kraft.broken",)


@pytest.mark.lab
@pytest.mark.parametrize("stack", [one for one in _STACKS if one.name in _SHORT], ids=lambda stack: stack.name)
def test_a_stack(podman_lab: Lab, stack: Stack, tmp_path: Path) -> None:
    assert _compare(podman_lab, stack, tmp_path)[0] > 10


@pytest.mark.bar("podman", long=True)
@pytest.mark.parametrize("stack", _STACKS, ids=lambda stack: stack.name)
def test_predicted_is_observed_is_what_kcat_gets(podman_lab: Lab, stack: Stack, tmp_path: Path, figure: Report) -> None:
    cells, unknown, by_chance = _compare(podman_lab, stack, tmp_path)
    figure(f"{stack.name}: cells", f"{cells}, {unknown} unknown from the file, {by_chance} from inspect")


def _compare(podman_lab: Lab, stack: Stack, folder: Path) -> tuple[int, int, int]:
    """How many cells agree, and how many are unknown from the file, and from the engine."""
    with started_stack(podman_lab, stack, folder) as running:
        kcat = clients(podman_lab, running, stack)["kcat"]
        sources = {"kcat": kcat, **netdiag_says(running, stack, engine=_ENGINE)}
        seen = replace(stack, cells=tuple(_as_observed(cell, sources[OBSERVED](*_pair(cell))) for cell in stack.cells))

        def asks(source: str, cell: ExpectedCell) -> bool:
            return source == "kcat" or sources[source](*_pair(cell)) != "unknown"

        asked = {source: sources[source] for source in ("kcat", PREDICTED, PREDICTED_LIVE)}
        result = compare(seen, asked, engine=_ENGINE, asks=asks, at_once=12)
    assert [str(row) for row in result.disagreements()] == []
    unknown, by_chance = (sum(source not in row.said for row in result.rows) for source in (PREDICTED, PREDICTED_LIVE))
    assert result.rows
    assert by_chance == 0 or stack.name in (*_BY_CHANCE, *_NOT_MODELLED)
    return len(result.rows), unknown, by_chance


def _pair(cell: ExpectedCell) -> tuple[str, str]:
    return cell.vantage, cell.bootstrap


def _as_observed(cell: ExpectedCell, word: str) -> ExpectedCell:
    """The cell as it came out; where librdkafka is known to differ, it may here too.

    Of localhost it tries ::1 as well, which refuses where 127.0.0.1 accepts and is silent.
    """
    known = next((case.kcat for case in cell.cases if case.kcat), None)
    if word == "bootstrap: timeout" and cell.bootstrap.startswith("localhost:"):
        known = "bootstrap: refused"
    return replace(cell, cases=(Case(cell=word, kcat=known),))
