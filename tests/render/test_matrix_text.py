"""The table: what it says first, how it is cut, what marks a disagreement."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.verdict import Cell
from netdiag.render.matrix.matrix_text import matrix_lines
from netdiag.render.report import Matrix
from netdiag.render.screen import Screen, line_width, paint
from tests.render.literals import CLIENT, HOST, LAN, OK, REFUSED, UNKNOWN, five_brokers, inside, matrix


def shown(of: Matrix, *, columns: int = 100, encoding: str = "utf-8", named: bool = False) -> str:
    screen = Screen(width=columns, encoding=encoding)
    return paint(matrix_lines(of, screen, named=named), screen)


def test_a_sentence_per_vantage_comes_first() -> None:
    assert shown(five_brokers()).splitlines()[:5] == [
        "From where a client works  (predicted; N = 1..5)",
        "  docker host         works through localhost:909N",
        "  inside broker-1..5  works through broker-N:29092, localhost:29092",
        "  container on kafka  works through broker-N:29092",
        "  LAN machine         no address works",
    ]


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_nothing_is_wider_than_the_screen(columns: int, encoding: str) -> None:
    lines = matrix_lines(five_brokers(), Screen(width=columns, encoding=encoding), named=False)
    assert max(line_width(line) for line in lines) <= columns


def test_a_narrow_screen_repeats_the_addresses() -> None:
    assert shown(five_brokers(), columns=60).count("  broker-N:29092  ") > 1


def test_brokers_without_numbers_are_called_by_what_they_are() -> None:
    brokers = [inside("alpha"), inside("beta"), inside("gamma")]
    rows = {f"localhost:909{n}": [OK if n == m else REFUSED for m in range(3)] for n in range(3)}
    text = shown(matrix(brokers, rows))
    assert "inside that broker  works through localhost:9090..9092" in text
    assert "inside the others   no address works" in text


def test_numbers_that_do_not_match_are_written_out() -> None:
    brokers = [inside(f"kafka{n}") for n in range(1, 4)]
    rows = {f"localhost:{9091 + n}": [OK if n == m else REFUSED for m in range(1, 4)] for n in range(1, 4)}
    text = shown(matrix(brokers, rows))
    assert "localhost:9092..9094" in text
    assert "inside that broker" in text
    assert "N =" not in text


def test_prediction_and_observation_that_agree_are_one_word() -> None:
    cells = tuple(
        replace(cell, observed=cell.predicted) for cell in matrix([HOST], {"a:1": [OK], "b:1": [REFUSED]}).cells
    )
    text = shown(Matrix(input="x", vantages=(HOST,), cells=cells))
    assert "(predicted and observed)" in text
    assert "≠" not in text


def test_a_disagreement_shows_both_and_a_footnote_for_each() -> None:
    cell = replace(matrix([HOST], {"a:1": [OK]}).cells[0], observed=REFUSED)
    text = shown(Matrix(input="x", vantages=(HOST,), cells=(cell,)))
    assert "ok≠refused¹" in text
    assert "a≠b  predicted a, observed b" in text
    assert "predicted: broker 1 answers on EXTERNAL" in text
    assert "observed: refused, nothing listens there" in text
    assert "ok!=refused[1]" in shown(Matrix(input="x", vantages=(HOST,), cells=(cell,)), encoding="ascii")


def test_what_was_not_observed_stands_in_parentheses() -> None:
    first, second = matrix([HOST], {"a:1": [OK], "b:1": [OK]}).cells
    cells = (replace(first, observed=OK), second)
    text = shown(Matrix(input="x", vantages=(HOST,), cells=cells))
    assert "(ok)" in text
    assert "( )  predicted, not observed" in text


def test_a_vantage_whose_cells_are_unknown_is_not_called_broken() -> None:
    assert "no address is known to work" in shown(matrix([HOST], {"a:1": [UNKNOWN]}))


def test_a_cell_that_nobody_predicted_is_a_dash() -> None:
    cells = (Cell(vantage=HOST.label, bootstrap=matrix([HOST], {"a:1": [OK]}).cells[0].bootstrap),)
    assert " -" in shown(Matrix(input="x", vantages=(HOST,), cells=cells))


def test_brokers_that_do_not_run_are_named() -> None:
    of = replace(matrix([HOST, CLIENT, LAN], {"a:1": [REFUSED] * 3}), not_running={"k1": "why", "k2": "why", "k9": ""})
    text = shown(of)
    assert "not running: k{1,2} (why)" in text
    assert "not running: k9\n" in text


def test_the_input_is_named_where_there_are_several() -> None:
    assert "From where a client works: compose.yml" in shown(five_brokers(), named=True)


def test_a_broker_host_that_nobody_named_is_explained() -> None:
    assert "--docker-host-ip" in shown(matrix([HOST], {"<docker-host>:9092": [OK]}))


def test_where_no_broker_runs_one_line_says_so() -> None:
    rows = {f"kafka-{n}:9092": [REFUSED, REFUSED] for n in range(3)}
    down = replace(matrix([HOST, LAN], rows), not_running={"kafka-0": "exited", "kafka-1": "exited"})
    assert shown(down).splitlines() == [
        "From where a client works  (predicted)",
        "  nowhere: no broker is running",
        "  not running: kafka-{0,1} (exited)",
    ]


@pytest.mark.parametrize(
    "other",
    [
        matrix([HOST, inside("kafka-2")], {"a:1": [REFUSED, REFUSED]}),
        matrix([HOST], {"a:1": [OK]}),
        matrix([HOST], {"a:1": [UNKNOWN]}),
    ],
)
def test_the_table_stays_where_a_broker_runs_or_answers_or_may_answer(other: Matrix) -> None:
    assert "nowhere" not in shown(replace(other, not_running={"kafka-1": "exited"}))


def test_the_table_stays_where_addresses_fail_although_no_broker_is_stopped() -> None:
    assert "nowhere" not in shown(matrix([HOST], {"a:1": [REFUSED]}))
