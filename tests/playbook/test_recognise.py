"""Lines are recognised as what says most of them; general symptoms do not hide special ones."""

from netdiag.playbook.recognise import MOST_LINES, recognised
from tests.playbook.examples import TEXT, playbook

GENERAL = playbook()
LONGER = TEXT.replace('{host}:{port}"', '{host}:{port} for ever"', 1).replace("kafka:9092", "kafka:9092 for ever", 1)
SPECIAL = playbook(LONGER, "for-ever")
BOOKS = (GENERAL, SPECIAL)


def test_the_special_one_comes_first() -> None:
    lines = ["nothing", "cannot connect to a:1", "cannot connect to b:2 for ever", "cannot connect to c:3"]
    found = recognised(lines, BOOKS)
    assert [(one.playbook.name, one.number, one.times) for one in found] == [("for-ever", 3, 1), ("closed-port", 2, 2)]
    assert found[0].values == {"host": "b", "port": "2"}


def test_nothing() -> None:
    assert recognised(["all is well"], BOOKS) == ()
    assert recognised([], BOOKS) == ()


def test_only_so_many_lines_are_read() -> None:
    lines = ["x"] * MOST_LINES + ["cannot connect to a:1"]
    assert recognised(iter(lines), BOOKS) == ()


def test_what_programs_that_are_well_write_too_counts_when_it_comes_often() -> None:
    book = playbook(TEXT.replace('kafka:9092"\n', 'kafka:9092"\n    often: 5\n', 1))
    line = "cannot connect to a:1"
    assert [one.times for one in recognised([line], [book])] == [1]
    quiet = ["all is well"] * 30
    assert recognised([*quiet, *[line] * 4], [book]) == ()
    assert [one.times for one in recognised([*quiet, *[line] * 5], [book])] == [5]
