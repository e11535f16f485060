"""The charts over time say in words what they draw."""

from dataclasses import replace

import pytest

from netdiag.render.analysis.charts import (
    connections_figure,
    errors_figure,
    lag_figure,
    latency_figure,
    requests_figure,
    throughput_figure,
    time_figures,
)
from netdiag.render.analysis.figure import REST, TimeAxis
from netdiag.traffic.analysis import Charts
from tests.render.analysis_page.pages import BREAKS, SPAN, broken, hostile

GRID = TimeAxis(span=SPAN)
CHARTS = broken().charts or Charts(span=SPAN)


def test_requests_are_those_that_went_well_and_those_that_did_not() -> None:
    figure = requests_figure(CHARTS, GRID)
    assert figure is not None
    assert figure.summary == (
        "92,800 requests, 16,240 of them with an error or no answer; at most 160 a second, at 22:13:20."
    )
    bad, good = figure.series
    assert (bad.values[0], good.values[0], bad.values[22]) == (0, 160, 0)
    assert (bad.values[BREAKS], good.values[BREAKS]) == pytest.approx((40.6, 119.4))


def test_latency_is_in_bands_and_has_gaps() -> None:
    figure = latency_figure(CHARTS, GRID)
    assert figure is not None
    assert [one.label for one in figure.series] == ["p50", "p95", "p99"]
    assert [label for label, _ in figure.legend] == ["p50", "p50 to p95", "p95 to p99"]
    assert figure.series[2].values[22] is None
    assert "p99 is worst at 22:16:40, 1.5 s." in figure.summary
    assert len(figure.table.rows) == SPAN.count - 4
    assert figure.table.rows[0] == ("22:13:20", "2.50 ms", "9.00 ms", "20 ms")


def test_kinds_of_errors_come_by_how_many_there_are_the_rest_last() -> None:
    figure = errors_figure(CHARTS, GRID)
    assert figure is not None
    assert [(one.label, one.values[BREAKS]) for one in figure.series] == [("Produce NOT_LEADER", 150), ("others", 50)]
    assert figure.series[-1].colour == REST
    assert figure.summary == "16,000 in all, the first at 22:16:40."


def test_lag_stays_as_it_is_until_it_changes() -> None:
    figure = lag_figure(CHARTS, GRID)
    assert figure is not None
    assert [one.label for one in figure.series] == ["shop in orders", "calm in t"]
    assert set(figure.series[1].values) == {5}
    assert figure.series[0].values[BREAKS - 1 :][:2] == (None, 3600)
    assert figure.summary.startswith(
        "shop is furthest behind in orders: 10,710 records at 22:23:15, 10,710 at the end."
    )


def test_connections_that_do_not_open_are_told_first() -> None:
    figure = connections_figure(CHARTS, GRID)
    assert figure is not None
    assert [one.label for one in figure.series] == ["refused", "reset later", "opened"]
    assert figure.summary.startswith("1,080 opened, 80 reset later, 0 no answer to SYN, 320 refused.")


def test_bytes_are_per_second() -> None:
    figure = throughput_figure(CHARTS, GRID)
    assert figure is not None
    assert [one.values[0] for one in figure.series] == [180_000, 18_000]


def test_without_rows_there_is_no_chart() -> None:
    assert time_figures(Charts(span=SPAN), GRID) == ()


def test_names_are_short_and_harmless() -> None:
    charts = hostile().charts
    assert charts is not None
    figure = lag_figure(replace(charts), GRID)
    assert figure is not None
    for text in (figure.summary, *(one.label for one in figure.series)):
        assert len(text) < 300
        assert text.isprintable()
