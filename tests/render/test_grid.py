"""Folding keeps every verdict: a folded cell stands for cells that say the same."""

import random

import pytest

from netdiag.deployment.model.verdict import Cell
from netdiag.render.matrix.grid import Grid, Part, fold_matrix
from netdiag.render.report import Matrix
from tests.render.literals import (
    CLIENT,
    HOST,
    LAN,
    OK,
    PARTIAL,
    REFUSED,
    SENT_AWAY,
    UNRESOLVED,
    five_brokers,
    inside,
    matrix,
)

WORDS = [OK, REFUSED, UNRESOLVED, SENT_AWAY, PARTIAL]


def shape(grid: Grid) -> tuple[list[int], list[tuple[int, Part]]]:
    return [len(row.addresses) for row in grid.rows], [(len(c.vantages), c.part) for c in grid.columns]


def test_five_brokers_fold_into_three_rows() -> None:
    grid = fold_matrix(five_brokers())
    assert shape(grid) == (
        [5, 5, 1],
        [(1, Part.ALL), (5, Part.DIAGONAL), (5, Part.BESIDE), (1, Part.ALL), (1, Part.ALL)],
    )
    words = [[str(cell.predicted) for cell in row] for row in grid.cells]
    refused, unresolved = "bootstrap: refused", "bootstrap: unresolved"
    assert words == [
        [unresolved, "ok", "ok", "ok", unresolved],
        ["ok", "partial 1/5", refused, refused, refused],
        [refused, "ok", "ok", refused, refused],
    ]
    assert grid.rows[1].own == tuple(f"inside broker-{n}" for n in range(1, 6))


def test_an_odd_broker_stays_apart() -> None:
    brokers = [inside(f"broker-{n}") for n in range(1, 5)]
    rows = {f"broker-{n}:9092": [REFUSED if n == 3 else OK] * 4 for n in range(1, 5)}
    grid = fold_matrix(matrix(brokers, rows))
    assert shape(grid) == ([3, 1], [(4, Part.ALL)])
    assert [a.host for a in grid.rows[1].addresses] == ["broker-3"]


def test_two_brokers_have_a_diagonal_that_answers() -> None:
    vantages = [inside("broker-1"), inside("broker-2")]
    rows = {"localhost:9091": [PARTIAL, REFUSED], "localhost:9092": [REFUSED, PARTIAL]}
    grid = fold_matrix(matrix(vantages, rows))
    assert grid.rows[0].own == ("inside broker-1", "inside broker-2")
    swapped = {"localhost:9092": [REFUSED, PARTIAL], "localhost:9091": [PARTIAL, REFUSED]}
    assert fold_matrix(matrix(vantages, swapped)).rows[0].own == ("inside broker-2", "inside broker-1")


def test_several_ports_per_broker_fold_port_by_port() -> None:
    brokers = [inside(f"k{n}") for n in range(1, 4)]
    rows = {f"k{n}:{port}{n}": [SENT_AWAY] * 3 for port in (909, 919) for n in range(1, 4)}
    rows |= {
        f"localhost:{port}{n}": [PARTIAL if n == m else REFUSED for m in range(1, 4)]
        for port in (909, 919)
        for n in range(1, 4)
    }
    grid = fold_matrix(matrix(brokers, rows))
    assert shape(grid) == ([3, 3, 3, 3], [(3, Part.DIAGONAL), (3, Part.BESIDE)])
    assert [sorted({a.port // 10 for a in row.addresses}) for row in grid.rows] == [[909], [919], [909], [919]]


def test_rows_of_different_names_and_ports_stay_apart() -> None:
    grid = fold_matrix(
        matrix([HOST, LAN], {"kafka:9092": [OK, OK], "redpanda:9092": [OK, OK], "localhost:1": [OK, OK]})
    )
    assert [len(row.addresses) for row in grid.rows] == [1, 1, 1]


def test_the_docker_host_keeps_its_column() -> None:
    grid = fold_matrix(matrix([HOST, CLIENT, LAN], {"a:1": [OK, OK, OK]}))
    assert [len(column.vantages) for column in grid.columns] == [1, 1, 1]


def test_observations_keep_rows_apart() -> None:
    cells = tuple(
        Cell(vantage=HOST.label, bootstrap=cell.bootstrap, predicted=OK, observed=observed)
        for cell, observed in zip(matrix([HOST], {"k1:9092": [OK], "k2:9092": [OK]}).cells, [OK, REFUSED], strict=True)
    )
    assert len(fold_matrix(Matrix(input="x", vantages=(HOST,), cells=cells)).rows) == 2


def test_nothing_folds_into_nothing() -> None:
    assert fold_matrix(Matrix(input="x", vantages=(), cells=())).rows == ()


@pytest.mark.parametrize("seed", range(60))
def test_a_folded_cell_stands_for_what_it_says(seed: int) -> None:
    chance = random.Random(seed)
    brokers = [inside(f"b{n}") for n in range(1, chance.randint(2, 6))]
    vantages = [HOST, *brokers, CLIENT, LAN]
    few = chance.sample(WORDS, chance.randint(1, 3))
    names = [f"b{n}:{port}" for n in range(1, len(brokers) + 1) for port in (9092, 9100 + n)]
    rows = {name: [chance.choice(few) if chance.random() < 0.1 else few[0] for _ in vantages] for name in names}
    for n, broker in enumerate(brokers):
        rows[names[n * 2]][vantages.index(broker)] = few[-1]
    grid = fold_matrix(matrix(vantages, rows))
    truth = {
        (name, v.label): str(word) for name, words in rows.items() for v, word in zip(vantages, words, strict=True)
    }
    assert sorted(str(a) for row in grid.rows for a in row.addresses) == sorted(names)
    for row, cells in zip(grid.rows, grid.cells, strict=True):
        for column, cell in zip(grid.columns, cells, strict=True):
            for index, address in enumerate(row.addresses):
                own = row.own[index] if row.own else None
                for vantage in column.vantages:
                    if (
                        column.part is Part.ALL
                        or not row.own
                        or (vantage.label == own) == (column.part is Part.DIAGONAL)
                    ):
                        assert truth[str(address), vantage.label] == str(cell.predicted)
