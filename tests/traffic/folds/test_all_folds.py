"""The list of folds fits the tables and the questions."""

from netdiag.traffic.aggregates.questions import ALL as QUESTIONS
from netdiag.traffic.folds.all_folds import ALL, VIEWS
from netdiag.traffic.tables import NAMES, table


def test_folds_are_of_tables_and_their_columns() -> None:
    for name, fold in ALL.items():
        assert fold.of in (*NAMES, *VIEWS), name
        if fold.of in NAMES:
            assert set(fold.reads) <= set(table(fold.of).names), name
            assert set(fold.made) <= set(fold.reads), name


def test_questions_name_folds_that_there_are() -> None:
    named = {fold for question in QUESTIONS.values() for fold in question.folds.values()}
    assert named <= set(ALL)
