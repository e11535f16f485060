"""Walks through small worlds of namespaces, every one held against a real connection."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from netdiag.io.kernel.inventory import read_inventory
from netdiag.topology.path.attempts import Agreement, deciding_rule
from netdiag.topology.path.prediction import PathPredictor
from tests.figures import Report
from tests.real_connections.attempts import Attempt, attempt_all
from tests.real_connections.building import Built, World, built
from tests.real_connections.comparing import Cell, misses, tally, unmoved
from tests.real_connections.worlds import FILTERED, WORLDS


@pytest.fixture(scope="module")
def worlds() -> Iterator[list[Built]]:
    if os.geteuid() != 0:
        pytest.skip("needs root: it makes network namespaces")
    with ExitStack() as stack:
        yield [stack.enter_context(built(world)) for world in (*WORLDS, *FILTERED)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One of a world's questions."""

    made: Built
    source: str
    address: str
    port: int


def compare(worlds: list[Built]) -> list[Cell]:
    """All cells. Connections teach neighbours while others are tried: what differs is predicted anew, tried alone."""
    tries = [
        Try(made=made, source=source, address=address, port=port)
        for made in worlds
        for source, (address, port) in _questions(made.world)
    ]
    cells = _cells(worlds, tries)
    differing = [index for index, cell in enumerate(cells) if cell.agreement is not Agreement.AGREES]
    for index, cell in zip(differing, _cells(worlds, [tries[index] for index in differing]), strict=True):
        cells[index] = cell
    return cells


def _cells(worlds: list[Built], tries: list[Try]) -> list[Cell]:
    inventory = read_inventory(only=[inode for made in worlds for inode in made.inodes.values()])
    predictor = PathPredictor(inventory)
    paths = [predictor.predict(one.made.inodes[one.source], one.address, one.port) for one in tries]
    results = attempt_all(
        [Attempt(namespace=one.made.open[one.source], address=one.address, port=one.port) for one in tries], watch=False
    )
    return [
        Cell(name=f"{one.made.world.name} {one.source} to {one.address}:{one.port}", path=path, result=result)
        for one, path, result in zip(tries, paths, results, strict=True)
    ]


def _questions(world: World) -> Iterator[tuple[str, tuple[str, int]]]:
    return ((source, target) for asked in world.asked for source in asked.sources for target in asked.targets)


@pytest.mark.bar("trace-truth")
def test_every_walk_ends_as_the_connection_does(worlds: list[Built], figure: Report) -> None:
    inodes = [inode for made in worlds for inode in made.inodes.values()]
    before = read_inventory(only=inodes)
    cells = compare(worlds)
    figure("walks in small worlds of namespaces against real connections", tally(cells))
    assert misses(cells) == []
    # Where a rule is said to end a way, it has counted that.
    assert sum(deciding_rule(cell.path) is not None for cell in cells) > 40
    assert unmoved(cells, before, read_inventory(only=inodes)) == []
