"""The lists of questions and charts are whole, and their schemas say what they hold."""

import pytest

from netdiag.traffic.aggregates.questions import CHARTS, QUESTIONS, STORED_QUESTIONS
from netdiag.traffic.tables import NAMES, aggregate, aggregate_names, chart_names, stored_aggregate_names


def test_every_aggregate_is_asked_for_by_name_or_with_its_topics() -> None:
    assert set(QUESTIONS) == set(aggregate_names())


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_order_is_made_of_columns(name: str) -> None:
    question = QUESTIONS[name]
    assert question.of in NAMES
    assert question.then
    assert {*question.first, *question.then} <= set(aggregate(name).names)


def test_every_chart_is_declared_and_asked_for() -> None:
    assert tuple(CHARTS) == chart_names()


@pytest.mark.parametrize("name", STORED_QUESTIONS)
def test_the_order_of_what_is_stored_is_made_of_columns(name: str) -> None:
    question = STORED_QUESTIONS[name]
    assert tuple(STORED_QUESTIONS) == stored_aggregate_names()
    assert {*question.first, *question.then} <= set(aggregate(name).names)


@pytest.mark.parametrize("name", CHARTS)
def test_the_order_of_charts_is_made_of_columns(name: str) -> None:
    chart = CHARTS[name]
    columns = aggregate(name).names
    assert chart.of in NAMES
    assert {*chart.first, *chart.then} <= set(columns)
    assert ("bucket" in columns) == (chart.most is None)


@pytest.mark.parametrize("name", [*aggregate_names(), *stored_aggregate_names(), *chart_names()])
def test_every_column_says_what_it_holds(name: str) -> None:
    table = aggregate(name)
    assert table.doc
    assert all(column.doc for column in table.columns)
    assert len(set(table.names)) == len(table.names)


def test_a_strange_name_is_refused() -> None:
    with pytest.raises(KeyError, match="nothing"):
        aggregate("nothing")


def test_no_name_stands_twice() -> None:
    assert not set(aggregate_names()) & set(chart_names())
