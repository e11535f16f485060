"""Every chart is declared, its order is made of columns, and what has no bound of its own is cut."""

import pytest

from netdiag.traffic.aggregates.charts import CHARTS
from netdiag.traffic.aggregates.declared import aggregate, chart_names
from netdiag.traffic.tables import NAMES


def test_every_chart_is_declared_and_asked_for() -> None:
    assert tuple(CHARTS) == chart_names()


@pytest.mark.parametrize("name", CHARTS)
def test_the_order_is_made_of_columns(name: str) -> None:
    chart = CHARTS[name]
    columns = aggregate(name).names
    assert chart.of in NAMES
    assert {*chart.first, *chart.then} <= set(columns)
    assert ("bucket" in columns) == (chart.most is None)
