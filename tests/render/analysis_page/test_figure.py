"""Bars, bands and steps from series."""

from typing import Any

from netdiag.render.analysis.figure import Picture, Series, TimeAxis, percentile_bands, stacked_bars, step_lines
from netdiag.traffic.analysis import Buckets

GRID = TimeAxis(span=Buckets(first=0, length=1_000_000, count=3))


def rows(drawn: tuple[Picture, ...]) -> list[dict[str, Any]]:
    """What the first layer draws, the same in both pictures."""
    wide, narrow = (one.spec["layer"][0]["data"]["values"] for one in drawn)
    assert wide == narrow
    found: list[dict[str, Any]] = wide
    return found


def test_bars_stand_on_top_of_one_another() -> None:
    one = Series(label="one", colour="red", values=(1.0, 0.0, 2.0))
    other = Series(label="other", colour="blue", values=(4.0, None, 5.0))
    boxes = [(row["a"], row["l"], row["h"], row["c"]) for row in rows(stacked_bars(GRID, (one, other), ""))]
    assert boxes == [(0, 0, 1, "red"), (2000, 0, 2, "red"), (0, 1, 5, "blue"), (2000, 2, 7, "blue")]


def test_bands_lie_between_the_lines_and_gaps_stay_gaps() -> None:
    lines = ((1.0, None, 0.0), (10.0, None, 20.0), (100.0, None, 30.0))
    drawn = percentile_bands(GRID, lines, ("p50", "p95", "p99"))
    boxes = [(row["a"], row["l"], row["h"]) for row in rows(drawn) if row["c"] != "p50"]
    assert boxes == [(0, 1, 10), (0, 10, 100), (2000, 0.01, 20), (2000, 20, 30)]
    thin = [row for row in rows(drawn) if row["c"] == "p50"]
    assert [row["l"] < at < row["h"] for row, at in zip(thin, (1.0, 0.01), strict=True)] == [True, True]
    low, high = drawn[0].spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert (low < 0.01, high > 100) == (True, True)


def test_steps_begin_where_something_is_known_and_last_to_the_end() -> None:
    series = Series(label="lag", colour="red", values=(None, 5.0, 7.0))
    points = [(row["a"], row["h"]) for row in rows(step_lines(GRID, (series,), ""))]
    assert points == [(1000, 5), (2000, 7), (3000, 7)]
