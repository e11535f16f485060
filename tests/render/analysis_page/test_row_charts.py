"""The charts with rows: rebalances, partitions."""

from dataclasses import replace
from typing import Any

from netdiag.render.analysis_page.canvas import Grid
from netdiag.render.analysis_page.figure import Figure
from netdiag.render.analysis_page.row_charts import BARS, GROUPS, heat_maps, rebalances
from netdiag.traffic.analysis import Answer, Charts
from netdiag.traffic.buckets import Buckets
from tests.render.analyses import answer
from tests.render.analysis_page.pages import SPAN, T0, S, broken, empty

GRID = Grid(span=SPAN)


def drawn(found: Answer) -> Figure:
    figure = rebalances(replace(empty(), answers={"rebalances": found}), GRID)
    assert figure is not None
    return figure


def boxes(figure: Figure) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = figure.drawn[0].spec["layer"][0]["data"]["values"]
    return found


def test_a_bar_is_as_long_as_the_rebalance_and_never_too_short_to_see() -> None:
    figure = rebalances(broken(), GRID)
    assert figure is not None
    first, *_, last = boxes(figure)
    assert (first["b"] - first["a"], first["c"]) == (6000, "var(--bad)")
    assert (last["b"] - last["a"], last["c"], last["y"]) == (600_000 / 250, "var(--c1)", 1)
    assert figure.summary == "10 in 2 groups; most in shop: 9."
    assert [one.label for one in figure.series] == ["shop (9)", "new (1)"]
    assert figure.table.rows[0][3:7] == ("session-timeout", "shop", "2", "6.0 s")
    assert [label for label, _ in figure.legend] == ["a member was lost or failed", "a member came or went"]


def test_of_many_groups_those_with_most_are_drawn_and_of_a_storm_the_longest() -> None:
    rows = [
        {"group": f"g{group:02}", "generation": n, "time": T0 + n * S // 10, "duration_ms": float(n), "trigger": "join"}
        for group in range(GROUPS + 3)
        for n in range(20 if group else 4000)
    ]
    figure = drawn(answer("rebalances", *rows, total=9000))
    assert len(figure.series) == GROUPS
    assert len(boxes(figure)) <= BARS + SPAN.count
    assert sum(value or 0 for value in figure.series[0].values) == 4000
    assert f"Drawn are the {GROUPS} groups with most." in figure.summary
    assert "Of all of them the first 4,280 by name of the group are looked at." in figure.summary
    assert (len(figure.table.rows), figure.table.more) == (200, 8800)


def test_a_rebalance_that_never_ended_is_drawn() -> None:
    (box,) = boxes(drawn(answer("rebalances", {"group": "g", "time": T0, "trigger": "unknown"})))
    assert box["b"] > box["a"]


def test_a_heat_map_has_a_row_per_partition_and_one_for_the_rest() -> None:
    charts = broken().charts
    assert charts is not None
    by_bytes, by_requests, by_errors = heat_maps(charts, GRID)
    assert [one.label for one in by_bytes.series] == [
        *(f"orders-{number}" for number in (5, 4, 3, 2, 1)),
        "all other partitions",
    ]
    assert by_bytes.columns == 60
    assert by_bytes.series[0].values[0] == 100_000
    assert by_bytes.summary == "orders-5 has 6.0 MB, 33% of all."
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
    (figure,) = heat_maps(charts, Grid(span=charts.span))
    assert [box["c"][-2] for box in boxes(figure)] == ["0", "0", "1", "1", "3", "4", "4"]
    assert figure.legend[0] == ("to 5 B", "var(--h0)")


def test_without_rows_there_is_no_chart() -> None:
    assert rebalances(empty(), GRID) is None
    assert heat_maps(Charts(span=SPAN), GRID) == ()
