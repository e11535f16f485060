"""The charts say in words what they draw."""

from dataclasses import replace
from typing import Any

import pytest

from netdiag.render.analysis.charts import (
    MOST_BARS,
    MOST_GROUPS,
    broker_maps,
    connections_figure,
    errors_figure,
    lag_figure,
    latency_figure,
    partition_maps,
    rebalance_figure,
    requests_figure,
    throughput_figure,
    time_figures,
)
from netdiag.render.analysis.figure import REST, Figure, TimeAxis
from netdiag.traffic.analysis import Answer, Buckets, Charts
from tests.render.analysis.analyses import answer
from tests.render.analysis.pages import BREAKS, SPAN, T0, S, broken, empty, hostile

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


HEAT_MAPS_GRID = TimeAxis(span=SPAN)


def boxes(figure: Figure) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = figure.drawn[0].spec["layer"][0]["data"]["values"]
    return found


def test_a_heat_map_has_a_row_per_partition_and_one_for_the_rest() -> None:
    charts = broken().charts
    assert charts is not None
    by_bytes, by_requests, by_errors = partition_maps(charts, HEAT_MAPS_GRID)
    assert [one.label for one in by_bytes.series] == [
        *(f"orders-{number}" for number in (5, 4, 3, 2, 1)),
        "all other partitions",
    ]
    assert by_bytes.columns == 60
    assert by_bytes.series[0].values[0] == 100_000
    assert by_bytes.summary == "orders-5 has 6.0 MB, 33% of all. The maximum is 100 kB, orders-5 at 22:13:20."
    assert {box["c"] for box in boxes(by_bytes) if box["y"] == 0} == {"var(--h4)"}
    assert by_requests.unit == ""
    assert by_errors.series[0].values[19:21] == (0, 2)
    assert by_bytes.table.rows[0] == ("orders-5", "6.0 MB", "1,080", "80", "22:13:20")


def test_shades_are_shares_of_the_greatest_value() -> None:
    rows = [{"bucket": n, "topic": "t", "partition": 0, "bytes": b} for n, b in enumerate((1, 5, 6, 15, 36, 66, 100))]
    charts = Charts(
        span=Buckets(first=0, length=1000, count=7),
        answers={"partitions_over_time": answer("partitions_over_time", *rows)},
    )
    (figure,) = partition_maps(charts, TimeAxis(span=charts.span))
    assert [box["c"][-2] for box in boxes(figure)] == ["0", "0", "1", "1", "3", "4", "4"]
    assert figure.legend[0] == ("to 5 B", "var(--h0)")


def test_brokers_are_told_apart_by_what_fails_by_latency_and_by_requests() -> None:
    charts = broken().charts
    assert charts is not None
    failures, latency, requests = broker_maps(charts, HEAT_MAPS_GRID)
    assert [one.label for one in failures.series] == ["10.0.0.8:9092", "10.0.0.9:9092", "all other brokers"]
    assert failures.summary == "10.0.0.9:9092 has 16,240, 100% of all. The maximum is 406, 10.0.0.9:9092 at 22:16:40."
    assert latency.series[1].values[19:21] == (20, 1500)
    assert latency.summary == "The maximum is 1.5 s, 10.0.0.9:9092 at 22:16:40."
    assert latency.series[2].values[0] is None
    assert [figure.word for figure in (failures, latency, requests)] == ["failures", "latency", "requests"]
    assert failures.table.rows[1] == ("10.0.0.9:9092", "48,000", "16,240", "22:16:40", "1.5 s", "22:16:40")
    assert failures.table.rows[2][3:] == ("-", "-", "-")


def test_names_that_are_short_alike_are_two_rows() -> None:
    rows = [{"bucket": 0, "topic": f"{'x' * 40}{letter}{'y' * 40}", "partition": 0, "bytes": 9} for letter in "ab"]
    charts = Charts(span=SPAN, answers={"partitions_over_time": answer("partitions_over_time", *rows)})
    (figure,) = partition_maps(charts, HEAT_MAPS_GRID)
    assert len({one.label for one in figure.series}) == 2


def test_the_rest_do_not_make_the_others_pale() -> None:
    rows: list[dict[str, Any]] = [
        {"bucket": 0, "topic": "t", "partition": 0, "bytes": 9},
        {"bucket": 0, "bytes": 10**9},
    ]
    charts = Charts(span=SPAN, answers={"partitions_over_time": answer("partitions_over_time", *rows)})
    (figure,) = partition_maps(charts, HEAT_MAPS_GRID)
    assert [box["c"] for box in boxes(figure)] == ["var(--h4)", "var(--h4)"]


def test_heat_maps_without_rows_there_is_no_chart() -> None:
    assert partition_maps(Charts(span=SPAN), HEAT_MAPS_GRID) == ()
    assert broker_maps(Charts(span=SPAN), HEAT_MAPS_GRID) == ()


GROUP_CHART_GRID = TimeAxis(span=SPAN)


def drawn(found: Answer) -> Figure:
    figure = rebalance_figure(replace(empty(), answers={"rebalances": found}), GROUP_CHART_GRID)
    assert figure is not None
    return figure


def group_chart_boxes(figure: Figure) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = figure.drawn[0].spec["layer"][0]["data"]["values"]
    return found


def test_a_bar_is_as_long_as_the_rebalance_and_never_too_short_to_see() -> None:
    figure = rebalance_figure(broken(), GROUP_CHART_GRID)
    assert figure is not None
    first, *_, last = group_chart_boxes(figure)
    assert (first["b"] - first["a"], first["c"]) == (6000, "var(--bad)")
    assert (last["b"] - last["a"], last["c"], last["y"]) == (600_000 / 250, "var(--c1)", 1)
    assert figure.summary == "10 in 2 groups; most in shop: 9."
    assert [one.label for one in figure.series] == ["shop (9)", "new (1)"]
    assert figure.table.rows[0][3:7] == ("session-timeout", "shop", "2", "6.0 s")
    assert [label for label, _ in figure.legend] == ["a member was lost or failed", "a member came or went"]


def test_of_many_groups_those_with_most_are_drawn_and_of_a_storm_the_longest() -> None:
    rows = [
        {"group": f"g{group:02}", "generation": n, "time": T0 + n * S // 10, "duration_ms": float(n), "trigger": "join"}
        for group in range(MOST_GROUPS + 3)
        for n in range(20 if group else 4000)
    ]
    figure = drawn(answer("rebalances", *rows, total=9000))
    assert len(figure.series) == MOST_GROUPS
    assert len(group_chart_boxes(figure)) <= MOST_BARS + SPAN.count
    assert sum(value or 0 for value in figure.series[0].values) == 4000
    assert f"The chart shows the {MOST_GROUPS} groups with the most." in figure.summary
    assert "It covers only the first 4,280, by group name." in figure.summary
    assert (len(figure.table.rows), figure.table.more) == (200, 8800)


def test_a_rebalance_that_never_ended_is_drawn() -> None:
    (box,) = group_chart_boxes(drawn(answer("rebalances", {"group": "g", "time": T0, "trigger": "unknown"})))
    assert box["b"] > box["a"]


def test_group_chart_without_rows_there_is_no_chart() -> None:
    assert rebalance_figure(empty(), GROUP_CHART_GRID) is None
