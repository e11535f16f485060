"""The picture of a watched matrix fits its terminal, whatever is in it."""

import pytest

from netdiag.deployment.model.vantage import Vantage
from netdiag.render.matrix.watch import change_lines, changes_between, watch_screen
from netdiag.render.report import Report
from netdiag.render.screen import Line, Screen, line_width, paint
from tests.render.literals import HOST, OK, PARTIAL, REFUSED, failed, inside
from tests.render.test_live_changes import lost, seen

PLACES: tuple[Vantage, ...] = (HOST, *(inside(f"name-{letter}") for letter in "abcdefghij"))
ADDRESSES = [f"{letter}.example:909{n}" for n, letter in enumerate("abcdefghij")]
WORKING = seen({(place, to): OK for place in PLACES for to in ADDRESSES})
BROKEN = seen(
    {
        (place, to): failed("timeout", f"{place.label} waits for {to}") if place.label[-1:] < to else OK
        for place in PLACES
        for to in ADDRESSES
    }
)


def drawn(report: Report, told: list[Line], *, rows: int, columns: int) -> list[Line]:
    return watch_screen(report, told, Screen(width=max(40, columns)), rows=rows, columns=columns, status="12:00:00")


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 10, 24, 60, 200])
@pytest.mark.parametrize("columns", [1, 2, 20, 40, 80, 140])
@pytest.mark.parametrize("count", [0, 1, 500])
def test_it_fits(rows: int, columns: int, count: int) -> None:
    told = [*change_lines(changes_between(WORKING, BROKEN), Screen(width=80), "12:00:00")] * count
    lines = drawn(BROKEN, told, rows=rows, columns=columns)
    assert 0 < len(lines) <= rows
    assert max(map(line_width, lines)) <= columns


def test_matrix_and_latest_changes_share_the_height() -> None:
    told = change_lines(changes_between(WORKING, BROKEN), Screen(width=80), "12:00:00")
    text = paint(drawn(BROKEN, told, rows=24, columns=100), Screen())
    assert "From where a client works" in text
    assert "enlarge the window" in text
    lines = text.splitlines()
    assert lines[lines.index("Changes") + 1] == paint(told[:1], Screen()).rstrip("\n")


def test_all_is_shown_where_there_is_room() -> None:
    text = paint(drawn(WORKING, [], rows=60, columns=140), Screen())
    assert text.startswith("110 of 110 cells work  12:00:00\n")
    assert "enlarge" not in text
    assert "Changes" not in text


def test_without_an_engine_what_was_seen_last_stays_with_a_word_on_it() -> None:
    gone = Report(inputs=lost("\x1b[31mno engine answers there").inputs, matrices=WORKING.matrices)
    text = paint(drawn(gone, [], rows=60, columns=140), Screen())
    assert "docker engine: not checked: \\x1b[31mno engine answers there; below is the last observation" in text
    assert "From where a client works" in text


def test_nothing_known_is_a_picture_too() -> None:
    assert paint(drawn(Report(), [], rows=24, columns=80), Screen()) == "0 of 0 cells work  12:00:00\n"


def test_some_work() -> None:
    some = seen({(HOST, "a:1"): OK, (HOST, "b:1"): REFUSED, (HOST, "c:1"): None, (HOST, "d:1"): PARTIAL})
    assert paint(drawn(some, [], rows=1, columns=80), Screen()) == "1 of 3 cells work, 1 in part  12:00:00\n"
