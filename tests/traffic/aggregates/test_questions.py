"""Every aggregate that is declared is asked for, and its order names columns that it has."""

import pytest

from netdiag.traffic.aggregates.declared import aggregate, names
from netdiag.traffic.aggregates.questions import ALL
from netdiag.traffic.tables import NAMES


def test_every_aggregate_is_asked_for_by_name_or_with_its_topics() -> None:
    assert set(ALL) == set(names())


@pytest.mark.parametrize("name", ALL)
def test_the_order_is_made_of_columns(name: str) -> None:
    question = ALL[name]
    assert question.of in NAMES
    assert question.then
    assert {*question.first, *question.then} <= set(aggregate(name).names)
