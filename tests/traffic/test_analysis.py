"""What an analysis tells of itself."""

from netdiag.traffic.analysis import Analysis, Answer, Seen


def test_exchanges_are_those_of_the_coverage() -> None:
    rows = ({"exchanges": 3}, {"exchanges": 4})
    assert Analysis(seen=Seen(), answers={"coverage": Answer(rows=rows, total=2)}).exchanges == 7


def test_an_answer_that_is_not_there_has_no_rows() -> None:
    assert Analysis(seen=Seen()).rows("lag") == ()
    assert Analysis(seen=Seen()).exchanges == 0
