"""Bars, bands and lines from series; the axis of time and its marks; Vega's SVG; names and numbers."""

import re
import sys
from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest

from netdiag.distribution import install_line
from netdiag.errors import MissingExtra
from netdiag.render.analysis.figure import (
    CANVASES,
    LONGEST_NAME,
    NARROW,
    WIDE,
    FindingMark,
    Picture,
    Series,
    TimeAxis,
    clock_text,
    layered_spec,
    number_text,
    percentile_bands,
    plot_area,
    short_name,
    stacked_bars,
    step_lines,
    time_encoding,
    value_encoding,
    vega_svg,
)
from netdiag.traffic.analysis import Buckets
from tests.render.analysis.pages import EVIL, LONG

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


NAME = "</text><script>alert(1)</script>\"'& \u2028"
SPEC = {
    "data": {"values": [{"x": 1, "t": NAME}]},
    "mark": {"type": "text", "aria": False},
    "encoding": {
        "x": {"field": "x", "type": "quantitative"},
        "text": {"field": "t", "type": "nominal"},
        "color": {"value": "var(--c1)"},
    },
}


def test_a_picture_has_no_style_no_script_and_no_name_of_its_own() -> None:
    drawn = vega_svg(SPEC)
    assert drawn.startswith("<svg ")
    assert 'fill="var(--c1)"' in drawn
    assert "&lt;script&gt;" in drawn
    for refused in ("<script", "<style", " style=", " id=", "href"):
        assert refused not in drawn
    assert vega_svg(SPEC) == drawn


def test_paths_are_exact_to_a_hundredth_and_texts_are_left_alone() -> None:
    drawn = vega_svg({**SPEC, "data": {"values": [{"x": 1, "t": 'x d="M0.123456'}]}})
    assert 'x d="M0.123456' in drawn.replace("&quot;", '"')
    shape = {"type": "arc", "aria": False, "theta": 1.234567}
    path = vega_svg({"data": {"values": [{}]}, "mark": shape}).split(' d="')
    assert len(path) > 2
    assert not any(re.search(r"\.\d{3}", part.partition('"')[0]) for part in path[1:])


def test_nothing_is_fetched() -> None:
    with pytest.raises(ValueError, match="url not allowed"):
        vega_svg({**SPEC, "data": {"url": "http://127.0.0.1:9/a.json"}})


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra) as raised:
        vega_svg(SPEC)
    assert raised.value.hint == install_line("report")


WORDING_SECOND = 1_000_000
T0 = 1_700_000_000 * WORDING_SECOND


@pytest.mark.parametrize(
    ("length", "count", "bucket", "text"),
    [
        (5 * WORDING_SECOND, 100, 3, "22:13:35"),
        (20_000, 100, 3, "22:13:20.060"),
        (600 * WORDING_SECOND, 144, 144, "2023-11-15 22:13:20"),
    ],
)
def test_a_time_of_day_has_a_date_where_there_are_several(length: int, count: int, bucket: int, text: str) -> None:
    assert clock_text(Buckets(first=T0, length=length, count=count), bucket) == text


def test_numbers_have_three_digits() -> None:
    assert [number_text(number) for number in (0, 0.12345, 5.678, 12.0, 1234.5)] == [
        "0",
        "0.123",
        "5.68",
        "12",
        "1,234",
    ]


def test_a_name_is_harmless_and_short() -> None:
    assert short_name("orders") == "orders"
    for name in (EVIL, LONG, "\u202e" * 10_000):
        shown = short_name(name)
        assert len(shown) <= LONGEST_NAME
        assert shown.isprintable()
    assert short_name("a" * 100 + "-17", 20) == "a" * 13 + "…" + "aaa-17"
