"""The chart of groups."""

from dataclasses import replace
from typing import Any

from netdiag.render.analysis.charts import MOST_BARS, MOST_GROUPS, rebalance_figure
from netdiag.render.analysis.figure import Figure, TimeAxis
from netdiag.traffic.analysis import Answer
from tests.render.analyses import answer
from tests.render.analysis_page.pages import SPAN, T0, S, broken, empty

GRID = TimeAxis(span=SPAN)


def drawn(found: Answer) -> Figure:
    figure = rebalance_figure(replace(empty(), answers={"rebalances": found}), GRID)
    assert figure is not None
    return figure


def boxes(figure: Figure) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = figure.drawn[0].spec["layer"][0]["data"]["values"]
    return found


def test_a_bar_is_as_long_as_the_rebalance_and_never_too_short_to_see() -> None:
    figure = rebalance_figure(broken(), GRID)
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
        for group in range(MOST_GROUPS + 3)
        for n in range(20 if group else 4000)
    ]
    figure = drawn(answer("rebalances", *rows, total=9000))
    assert len(figure.series) == MOST_GROUPS
    assert len(boxes(figure)) <= MOST_BARS + SPAN.count
    assert sum(value or 0 for value in figure.series[0].values) == 4000
    assert f"Drawn are the {MOST_GROUPS} groups with most." in figure.summary
    assert "Of all of them the first 4,280 by name of the group are looked at." in figure.summary
    assert (len(figure.table.rows), figure.table.more) == (200, 8800)


def test_a_rebalance_that_never_ended_is_drawn() -> None:
    (box,) = boxes(drawn(answer("rebalances", {"group": "g", "time": T0, "trigger": "unknown"})))
    assert box["b"] > box["a"]


def test_without_rows_there_is_no_chart() -> None:
    assert rebalance_figure(empty(), GRID) is None
