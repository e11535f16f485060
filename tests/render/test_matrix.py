"""The matrix: how it folds, what it says first, how it is cut, what its footnotes explain."""

import random
from dataclasses import replace

import pytest

from netdiag.deployment.model.verdict import Cell, Failed, Reason, Verdict, Word
from netdiag.render.matrix.matrix_text import (
    Footnotes,
    Grid,
    Part,
    effective_verdict,
    fold_matrix,
    matrix_lines,
    verdict_explanation,
    verdict_style,
    verdict_word,
)
from netdiag.render.report import Matrix
from netdiag.render.screen import ASCII, UNICODE, Screen, Style, line_width, paint
from tests.each import each
from tests.render.literals import (
    CLIENT,
    HOST,
    LAN,
    OK,
    PARTIAL,
    REFUSED,
    SENT_AWAY,
    UNKNOWN,
    UNRESOLVED,
    address,
    answered,
    failed,
    five_brokers,
    inside,
    matrix,
)


def shown(of: Matrix, *, columns: int = 100, encoding: str = "utf-8", named: bool = False) -> str:
    screen = Screen(width=columns, encoding=encoding)
    return paint(matrix_lines(of, screen, named=named), screen)


def test_a_sentence_per_vantage_comes_first() -> None:
    assert shown(five_brokers()).splitlines()[:5] == [
        "Where clients can connect  (predicted; N = 1..5)",
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
    assert "Where clients can connect: compose.yml" in shown(five_brokers(), named=True)


def test_a_broker_host_that_nobody_named_is_explained() -> None:
    assert "--docker-host-ip" in shown(matrix([HOST], {"<docker-host>:9092": [OK]}))


def test_where_no_broker_runs_one_line_says_so() -> None:
    rows = {f"kafka-{n}:9092": [REFUSED, REFUSED] for n in range(3)}
    down = replace(matrix([HOST, LAN], rows), not_running={"kafka-0": "exited", "kafka-1": "exited"})
    assert shown(down).splitlines() == [
        "Where clients can connect  (predicted)",
        "  nowhere: no broker is running",
        "  not running: kafka-{0,1} (exited)",
    ]


def test_where_no_broker_runs_addresses_that_are_unknown_are_named_once() -> None:
    rows = {"a:1": [REFUSED, REFUSED], "b:1": [REFUSED, UNKNOWN], "b:2": [UNKNOWN, UNKNOWN]}
    down = replace(matrix([HOST, LAN], rows), not_running={"kafka-0": "exited"})
    _, *lines = shown(down).splitlines()
    assert lines[:2] == ["  no address is known to work: no broker is running", "  not running: kafka-0 (exited)"]
    assert len(lines) == 3
    assert lines[2].startswith("  unknown: b:{1,2}")


@pytest.mark.parametrize(
    "other",
    [
        matrix([HOST, inside("kafka-2")], {"a:1": [REFUSED, REFUSED]}),
        matrix([HOST], {"a:1": [OK]}),
    ],
)
def test_the_table_stays_where_a_broker_runs_or_answers(other: Matrix) -> None:
    assert "nowhere" not in shown(replace(other, not_running={"kafka-1": "exited"}))


def test_the_table_stays_where_addresses_fail_although_no_broker_is_stopped() -> None:
    assert "nowhere" not in shown(matrix([HOST], {"a:1": [REFUSED]}))


NO_BROKERS = answered()
WRONG = answered("1 localhost:9092 2")


@pytest.mark.parametrize(
    ("verdict", "expected", "colour"),
    [
        (OK, "ok", Style.GOOD),
        (PARTIAL, "partial 1/2", Style.HALF),
        (REFUSED, "refused", Style.BAD),
        (UNRESOLVED, "unresolved", Style.BAD),
        (SENT_AWAY, "→refused", Style.BAD),
        (NO_BROKERS, "→no-brokers", Style.BAD),
        (WRONG, "→wrong-broker", Style.BAD),
        (failed("tls"), "tls", Style.BAD),
        (answered("1 a:1 sasl"), "→sasl", Style.BAD),
        (failed("not-kafka"), "not-kafka", Style.BAD),
        (UNKNOWN, "unknown", Style.DIM),
    ],
)
def test_word(verdict: Verdict, expected: str, colour: Style) -> None:
    assert verdict_word(verdict, UNICODE) == expected
    assert verdict_word(verdict, ASCII) == expected.replace("→", "->")
    assert verdict_style(verdict) is colour


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (REFUSED, "refused, nothing listens there"),
        (failed("timeout", ""), "no answer"),
        (failed("sasl", "listener A of kafka requires SASL_SSL"), "listener A of kafka requires SASL_SSL"),
        (UNKNOWN, "unknown, an external network is in the way"),
        (NO_BROKERS, "broker 1 answers on EXTERNAL, but returns no brokers"),
        (
            SENT_AWAY,
            "broker 1 answers on EXTERNAL and advertises localhost:9091: refused, localhost is the client itself",
        ),
        (WRONG, "broker 1 answers on EXTERNAL and advertises localhost:9092: another broker answers, it is broker 2"),
        (
            answered("1 localhost:9092 1"),
            "broker 1 answers on EXTERNAL and advertises localhost:9092: another broker answers, it is broker 1 of "
            "another cluster",
        ),
        (
            PARTIAL,
            "broker 1 answers on EXTERNAL and advertises localhost:9091 (broker 1): ok; "
            "localhost:9092 (broker 2): refused, out of reach",
        ),
        (
            answered("1 k1:1 ok", "2 k2:1 unknown", "3 k3:1 unknown"),
            "broker 1 answers on EXTERNAL and advertises k1:1 (broker 1): ok; "
            "k{2,3}:1 (brokers 2,3): unknown, out of reach",
        ),
    ],
)
def test_explanation(verdict: Verdict, expected: str) -> None:
    assert verdict_explanation(verdict) == expected


def test_what_was_observed_counts_unless_it_says_nothing() -> None:
    def cell(predicted: Verdict | None, observed: Verdict | None) -> Cell:
        return Cell(vantage="v", bootstrap=address("a:1"), predicted=predicted, observed=observed)

    assert effective_verdict(cell(OK, REFUSED)) is REFUSED
    assert effective_verdict(cell(OK, None)) is OK
    assert effective_verdict(cell(OK, UNKNOWN)) is OK
    assert effective_verdict(cell(None, UNKNOWN)) is UNKNOWN
    assert effective_verdict(cell(None, None)) is None


def cell(where: str, verdict: object = REFUSED) -> Cell:
    return Cell(vantage="docker host", bootstrap=address(where), predicted=verdict)  # type: ignore[arg-type]


def test_what_works_needs_none() -> None:
    assert Footnotes(Screen()).mark(cell("a:1", OK)).text == ""


def test_explanations_that_differ_in_numbers_only_are_one() -> None:
    footnotes = Footnotes(Screen())
    marks = [
        footnotes.mark(cell("broker-1:9092", failed(because="broker-1 port 9092 has no listener"))).text,
        footnotes.mark(cell("broker-2:9093", failed(because="broker-2 port 9093 has no listener"))).text,
        footnotes.mark(cell("a:1", PARTIAL)).text,
    ]
    assert marks == ["¹", "¹", "²"]
    text = paint(footnotes.lines(), Screen())
    assert text.startswith("  ¹ docker host → broker-1:9092: refused, broker-1 port 9092 has no listener\n  ² ")


def test_explanations_that_differ_in_the_host_of_the_row_only_are_one() -> None:
    footnotes = Footnotes(Screen())
    marks = [
        footnotes.mark(cell(f"{host}:9092", failed(because=f'the docker host does not resolve "{host}"'))).text
        for host in ("alpha", "beta")
    ]
    assert marks == ["¹", "¹"]


def test_an_explanation_that_has_the_host_of_one_row_is_one_for_others_that_lack_it() -> None:
    footnotes = Footnotes(Screen())
    because = "broker 1 advertises localhost:9092, the client container itself"
    hosts = ("broker", "other", "broker.lan")
    assert [footnotes.mark(cell(f"{host}:9092", failed(because=because))).text for host in hosts] == ["¹", "¹", "¹"]


def test_what_only_lacks_tls_or_a_login_is_not_called_broken() -> None:
    refused = {
        word: Verdict(
            word=word,
            bootstrap=Failed(reason=reason, because=f"listener X of broker-1 requires {protocol}"),
        )
        for word, reason, protocol in ((Word.TLS, Reason.TLS, "SSL"), (Word.SASL, Reason.SASL, "SASL_PLAINTEXT"))
    }
    told = Verdict(word=Word.TLS, bootstrap=Failed(reason=Reason.TLS, because="the client uses SSL, but it is plain"))
    cases = {
        "no address works without TLS": [refused[Word.TLS], REFUSED],
        "no address works without SASL": [refused[Word.SASL], REFUSED],
        "no address works without TLS or SASL": [refused[Word.TLS], refused[Word.SASL]],
        "no address works": [told, REFUSED],
        "works through localhost:9093": [refused[Word.TLS], OK],
    }
    for text, (first, second) in cases.items():
        lines = shown(matrix([HOST], {"localhost:9092": [first], "localhost:9093": [second]})).splitlines()
        assert lines[1].endswith(f"  {text}")


def test_numbers_go_on_beyond_nine() -> None:
    footnotes = Footnotes(Screen())
    marks = [footnotes.mark(cell("a:1", failed(because="x" * n))).text for n in range(1, 13)]
    assert marks[9:] == ["¹⁰", "¹¹", "¹²"]


def test_ascii_has_brackets() -> None:
    screen = Screen(encoding="ascii")
    footnotes = Footnotes(screen)
    assert footnotes.mark(cell("a:1")).text == "[1]"
    assert "[1] docker host -> a:1: refused" in paint(footnotes.lines(), screen)


def test_a_disagreement_is_explained_even_where_it_works() -> None:
    footnotes = Footnotes(Screen())
    assert footnotes.mark(replace(cell("a:1", REFUSED), observed=OK)).text == "¹"


def test_passwords_are_hidden() -> None:
    footnotes = Footnotes(Screen())
    footnotes.mark(cell("a:1", failed(because='said password="hunter2"')))
    assert "hunter2" not in paint(footnotes.lines(), Screen())


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


def test_columns_of_one_row_that_say_different_things_stay_apart() -> None:
    grid = fold_matrix(matrix([inside("k1"), inside("k2"), inside("k3")], {"k1:9092": [OK, REFUSED, OK]}))
    assert sorted(label for column in grid.columns for label in (v.label for v in column.vantages)) == [
        "inside k1",
        "inside k2",
        "inside k3",
    ]
    words = {
        v.label: str(cell.predicted)
        for column, cell in zip(grid.columns, grid.cells[0], strict=True)
        for v in column.vantages
    }
    assert words == {"inside k1": "ok", "inside k2": "bootstrap: refused", "inside k3": "ok"}


def test_nothing_folds_into_nothing() -> None:
    assert fold_matrix(Matrix(input="x", vantages=(), cells=())).rows == ()


@each("seed", range(60))
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
            for index, bootstrap in enumerate(row.addresses):
                own = row.own[index] if row.own else None
                for vantage in column.vantages:
                    if (
                        column.part is Part.ALL
                        or not row.own
                        or (vantage.label == own) == (column.part is Part.DIAGONAL)
                    ):
                        assert truth[str(bootstrap), vantage.label] == str(cell.predicted)
