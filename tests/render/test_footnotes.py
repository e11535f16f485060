"""One footnote for each different explanation."""

from dataclasses import replace

from netdiag.deployment.model.verdict import Cell
from netdiag.render.matrix.matrix_text import Footnotes
from netdiag.render.screen import Screen, paint
from tests.render.literals import OK, PARTIAL, REFUSED, address, failed


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
