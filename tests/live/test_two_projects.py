"""Two projects on one engine: a check of one says what it says of it alone, and what the other causes, and no more.

A name of both is told in every cell that it touches. That each client meets whom the cell says is asked of kcat,
kafka-python and Java from inside every container.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from netdiag.deployment.model.verdict import Cell
from tests.figures import Report as Figure
from tests.lab.errors import LabImpossible
from tests.lab.lab import Lab, start_lab
from tests.lab.stack import Stack
from tests.live.two_projects import (
    ARRANGEMENTS,
    Arrangement,
    Told,
    beside,
    files,
    met_by_java,
    met_by_kcat,
    met_by_python,
    places_of,
    told,
)

_TIMES = 50
_PYTHON_TIMES = 12


@pytest.mark.lab
@pytest.mark.parametrize("arrangement", ARRANGEMENTS[1:3], ids=lambda one: one.name)
def test_each_is_checked_as_if_it_were_alone(lab: Lab, arrangement: Arrangement, tmp_path: Path) -> None:
    with beside(lab, arrangement, tmp_path) as (first, second, alone):
        compare(lab, arrangement, tmp_path, alone)
        if arrangement.shares_name:
            app = next(place for _, label, place in places_of([first]) if label == "container app")
            assert met_by_kcat(lab, app, "kafka:29092", 20) == {first.project, second.project}


@pytest.mark.lab
@pytest.mark.bar("two-projects", long=True)
@pytest.mark.parametrize("release", ["20.10", "28", "29"])
def test_every_arrangement(release: str, compose_v2: Path, tmp_path: Path, figure: Figure) -> None:
    assert compose_v2.exists()
    cells = 0
    try:
        with start_lab(release=release) as lab:
            for number, arrangement in enumerate(ARRANGEMENTS):
                folder = tmp_path / str(number)
                folder.mkdir()
                with beside(lab, arrangement, folder) as (first, second, alone):
                    cells += compare(lab, arrangement, folder, alone)
                    if arrangement.shares_name:
                        _as_clients_say(lab, folder, arrangement, [first, second], figure, release)
    except LabImpossible as error:
        pytest.skip(str(error))
    figure(f"engine {release}: arrangements", len(ARRANGEMENTS))
    figure(f"engine {release}: cells compared", cells)


def compare(lab: Lab, arrangement: Arrangement, folder: Path, alone: tuple[Told, Told]) -> int:
    """Both projects against what they had alone, by file and in one check of everything; how many cells there were."""
    paths = files(arrangement, folder)
    cells = 0
    everything = told(lab, None, None)
    assert [item.name for item in everything.report.inputs] == [f"{p.name} (running)" for p in arrangement.projects]
    for project, path, before, caused in zip(arrangement.projects, paths, alone, arrangement.caused, strict=True):
        now = told(lab, path, project.name)
        assert before.findings <= now.findings
        assert {rule for rule, _ in now.findings - before.findings} == caused
        assert not {place for _, place in now.findings} & {f"{p.name}-kafka-1" for p in arrangement.projects}
        (matrix,) = now.report.matrices
        labels = {vantage.label for vantage in matrix.vantages}
        assert labels <= {"docker host", "inside kafka", "container app"}
        (section,) = (one for one in everything.report.matrices if one.input == f"{project.name} (running)")
        assert [_words(cell) for cell in section.cells] == [_words(cell) for cell in matrix.cells]
        cells += len(matrix.cells)
        for cell in matrix.cells:
            assert cell.agrees is not False, cell
            assert bool(cell.observed and cell.observed.choices) is (arrangement.shares_name and _uses_name(cell)), cell
    return cells


def _words(cell: Cell) -> tuple[str, str, str]:
    return cell.vantage, str(cell.bootstrap), str(cell.observed)


def _uses_name(cell: Cell) -> bool:
    """Whether `kafka` is resolved on the way: at a container, as the bootstrap address or an advertised one."""
    advertised = cell.observed.endpoints if cell.observed else ()
    hosts = {cell.bootstrap.host, *(one.endpoint.host for one in advertised)}
    return cell.vantage != "docker host" and "kafka" in hosts


def _as_clients_say(
    lab: Lab, folder: Path, arrangement: Arrangement, stacks: list[Stack], figure: Figure, release: str
) -> None:
    """Whom each client meets at the name, from inside every container, is whom the cell names."""
    paths = dict(zip((stack.project for stack in stacks), files(arrangement, folder), strict=True))
    for project, label, vantage in places_of(stacks):
        (matrix,) = told(lab, paths[project], project).report.matrices
        (cell,) = (c for c in matrix.cells if (c.vantage, str(c.bootstrap)) == (label, "kafka:29092"))
        assert cell.observed is not None
        (choice,) = cell.observed.choices
        other = next(stack.project for stack in stacks if stack.project != project)
        owner = {"kafka": project, f"{other}-kafka-1": other}
        kcat = met_by_kcat(lab, vantage, "kafka:29092", _TIMES)
        python = met_by_python(lab, vantage, "kafka:29092", _PYTHON_TIMES)
        java = met_by_java(lab, vantage, "kafka:29092")
        where = f"engine {release}, {arrangement.name}, {label} of {project}"
        figure(f"{where}: kcat {_TIMES} times, kafka-python {_PYTHON_TIMES} times, Java", f"{kcat} {python} {java}")
        assert kcat == {owner[name] for name in choice.members}
        assert python == {owner[name] for name in choice.first_met}
        assert java <= python
