"""Axes, and the marks of the findings on them."""

from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest

from netdiag.render.analysis.figure import (
    CANVASES,
    NARROW,
    WIDE,
    FindingMark,
    TimeAxis,
    layered_spec,
    plot_area,
    time_encoding,
    value_encoding,
    vega_svg,
)
from netdiag.traffic.analysis import Buckets

SECOND = 1_000_000
SPAN = Buckets(first=0, length=SECOND, count=100)
LAYER: dict[str, Any] = {
    "data": {"values": [{"a": 0, "h": 1}]},
    "mark": {"type": "point", "aria": False},
    "encoding": {"x": time_encoding(WIDE, TimeAxis(span=SPAN)), "y": value_encoding("h", "")},
}


def marks(*seconds: float) -> tuple[list[float], list[str]]:
    """Where lines stand, in seconds, and what is written above them."""
    found = [FindingMark(number=n, time=int(at * SECOND), colour="red") for n, at in enumerate(seconds, 1)]
    *_, rules, labels = layered_spec(WIDE, TimeAxis(span=SPAN, marks=found), [LAYER], height=50)["layer"]
    return [row["t"] / 1000 for row in rules["data"]["values"]], [row["n"] for row in labels["data"]["values"]]


def test_findings_at_one_place_are_one_label_and_one_line() -> None:
    assert marks(10, 50, 10.1, 11) == ([10, 11, 50], ["1 +2", "2"])
    # the number is that of the worst, whichever comes first
    assert marks(11, 10) == ([10, 11], ["1 +1"])


def test_findings_beside_the_span_are_not_drawn() -> None:
    assert marks(101, 99, -1) == ([99], ["2"])
    assert len(layered_spec(WIDE, TimeAxis(span=SPAN), [LAYER], height=50)["layer"]) == 1


def test_no_label_stands_on_another() -> None:
    seconds = [number * number / 9 for number in range(30)]
    found = [FindingMark(number=n, time=int(at * SECOND), colour="red") for n, at in enumerate(seconds, 1)]
    for canvas in CANVASES:
        layers = layered_spec(canvas, TimeAxis(span=SPAN, marks=found), [LAYER], height=50)["layer"]
        labels = [(row["t"] / 1e5 * canvas.plot, 3.7 * len(row["n"])) for row in layers[-1]["data"]["values"]]
        assert len(labels) > 3
        for (before, half), (after, other) in pairwise(labels):
            assert before + half <= after - other


@pytest.mark.parametrize("named", [True, False])
def test_a_picture_is_as_wide_as_it_says_and_its_plot_where_it_says(named: bool) -> None:
    for canvas in CANVASES:
        drawn = vega_svg(layered_spec(canvas, TimeAxis(span=SPAN), [LAYER], height=50, named=named))
        assert f' width="{canvas.width(named=named)}"' in drawn
        x, y, width, height = plot_area(canvas, height=50, named=named)
        assert (width, height) == (canvas.plot, 50)
        assert f'transform="translate({x},{y})"' in drawn


def test_wide_plots_end_at_the_same_place() -> None:
    # the page puts the narrower pictures as far to the right as they are narrower
    shift = WIDE.width(named=True) - WIDE.width(named=False)
    css = (files("netdiag.render.analysis") / "page.css").read_text(encoding="utf-8")
    assert f"grid-template-columns: {100 * shift / WIDE.width(named=True):.4f}% 1fr;" in css
    assert NARROW.width(named=True) == NARROW.width(named=False)


@pytest.mark.parametrize(
    ("length", "label"),
    [(50_000, "22:13:21.000"), (5 * SECOND, "22:16:00"), (300 * SECOND, "06:00"), (6 * 3600 * SECOND, "21 Nov 00:00")],
)
def test_times_are_utc_and_as_exact_as_the_span_is_short(length: int, label: str) -> None:
    grid = TimeAxis(span=Buckets(first=1_700_000_000 * SECOND, length=length, count=120))
    layer = {**LAYER, "encoding": {**LAYER["encoding"], "x": time_encoding(WIDE, grid)}}
    assert f">{label}</text>" in vega_svg(layered_spec(WIDE, grid, [layer], height=50))


@pytest.mark.parametrize(
    ("unit", "log", "labels"),
    [
        ("", None, ("0", "200k")),
        ("B/s", None, ("0 B/s", "200 kB/s")),
        ("ms", (0.5, 5000.0), ("1 ms", "100 ms", "1 s")),
        ("ms", (2.0, 9.0), ("2 ms", "5 ms")),
    ],
)
def test_quantities_have_their_unit(unit: str, log: tuple[float, float] | None, labels: tuple[str, ...]) -> None:
    layer = {
        "data": {"values": [{"a": 0, "h": 200_000 if log is None else log[1]}]},
        "mark": {"type": "point", "aria": False},
        "encoding": {"x": time_encoding(WIDE, TimeAxis(span=SPAN)), "y": value_encoding("h", unit, log=log)},
    }
    drawn = vega_svg(layered_spec(WIDE, TimeAxis(span=SPAN), [layer], height=80))
    for label in labels:
        assert f">{label}</text>" in drawn


def test_counts_have_no_halves() -> None:
    drawn = vega_svg(layered_spec(WIDE, TimeAxis(span=SPAN), [LAYER], height=80))
    assert ">1</text>" in drawn
    assert "500m" not in drawn
