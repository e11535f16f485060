"""A chart of the page: its pictures, the series behind them, and the table that says the same in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netdiag.render.analysis_page.canvas import (
    CANVASES,
    NARROW,
    Canvas,
    Grid,
    Spec,
    along,
    drawing,
    plot_of,
    upward,
    values,
)

HEIGHT, LOW = 118, 84
_ROW, _NARROW_ROW = 18, 26
_LEAST = 0.01

Numbers = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One value per bucket of the page, null where nothing is known; `colour` as CSS knows it."""

    label: str
    colour: str
    values: Numbers
    is_dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One picture of a chart: its specification, and where its plot is (x, y, width, height)."""

    canvas: Canvas
    spec: Spec
    plot: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table in words: cells are text that is not escaped yet.

    So many `more` rows are known not to be shown; where it `is_open` there may be others.
    """

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[bool, ...] = ()
    more: int = 0
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart. `summary` says in a sentence what is to be seen; `rows` are the names of a chart that has a row each.

    `series` are what the pointer tells: values at a time, or of a row at a time; `columns` is how many there are.
    Of the figures with one `choice` one is shown at a time; `word` is what it is chosen by.
    """

    key: str
    title: str
    summary: str
    unit: str
    series: tuple[Series, ...]
    drawn: tuple[Drawn, ...]
    table: Table
    columns: int
    legend: tuple[tuple[str, str], ...] = ()
    has_rows: bool = False
    choice: str = ""
    word: str = ""


def stacked(grid: Grid, series: Sequence[Series], unit: str, *, height: int = HEIGHT) -> tuple[Drawn, ...]:
    """Bars on top of one another, the first series at the bottom."""
    rows: list[Mapping[str, Any]] = []
    bottom = [0.0] * grid.span.count
    for one in series:
        for bucket, value in enumerate(one.values):
            if value:
                low, bottom[bucket] = bottom[bucket], bottom[bucket] + value
                rows.append(_box(grid, bucket, low, bottom[bucket], one.colour))
    return _pictures(grid, rows, unit, height)


def bands(grid: Grid, low: Sequence[Numbers], colours: Sequence[str], *, height: int = HEIGHT) -> tuple[Drawn, ...]:
    """Bars from each line to the next on a logarithmic axis, a thin one for the lowest line itself."""
    known = [max(value, _LEAST) for line in low for value in line if value is not None]
    most, least = max(known, default=1.0), min(known, default=1.0)
    domain = (least / 1.5, max(most, least * 10) * 1.5)
    thin = (domain[1] / domain[0]) ** (1 / height)
    rows = []
    for bucket in range(grid.span.count):
        at = [max(value, _LEAST) for line in low if (value := line[bucket]) is not None]
        if len(at) != len(low):
            continue
        for below, above, colour in zip(at, at[1:], colours[1:], strict=False):
            rows.append(_box(grid, bucket, below, above, colour))
        rows.append(_box(grid, bucket, at[0] / thin, at[0] * thin, colours[0]))
    return _pictures(grid, rows, "ms", height, log=domain)


def steps(grid: Grid, series: Sequence[Series], unit: str, *, height: int = HEIGHT) -> tuple[Drawn, ...]:
    """Lines that stay as they are until they change."""
    rows = [
        {"a": grid.ms(bucket), "h": value, "c": one.colour, "k": number, "d": one.is_dashed}
        for number, one in enumerate(series)
        for bucket, value in (*enumerate(one.values), (grid.span.count, one.values[-1]))
        if value is not None
    ]
    found = []
    for canvas in CANVASES:
        layer = {
            "data": values(rows),
            "mark": {"type": "line", "aria": False, "interpolate": "step-after", "strokeWidth": 2},
            "encoding": {
                "x": along(canvas, grid),
                "y": upward("h", unit),
                "color": _as_is("c"),
                "detail": {"field": "k", "type": "nominal"},
                "strokeDash": {"condition": {"test": "datum.d", "value": [5, 3]}, "value": [1, 0]},
            },
        }
        spec = drawing(canvas, grid, [layer], height=height)
        found.append(Drawn(canvas=canvas, spec=spec, plot=plot_of(canvas, height=height)))
    return tuple(found)


def rows_of(grid: Grid, labels: Sequence[str], boxes: Sequence[Mapping[str, Any]]) -> tuple[Drawn, ...]:
    """Boxes in rows with a name each: beside the row where there is room, above it where there is none."""
    found = []
    for canvas in CANVASES:
        tall = _NARROW_ROW if canvas is NARROW else _ROW
        height = tall * len(labels)
        inset = 12 if canvas is NARROW else 1
        rows = [{**box, "l": box["y"] * tall + inset, "h": (box["y"] + 1) * tall - 1} for box in boxes]
        layers: list[Spec] = [
            {
                "data": values(rows),
                "mark": {"type": "rect", "aria": False},
                "encoding": {
                    "x": along(canvas, grid),
                    "x2": {"field": "b"},
                    "y": _pixels("l", height),
                    "y2": {"field": "h"},
                    "color": {"field": "c", "type": "nominal", "scale": None, "legend": None},
                },
            },
            _names(canvas, labels, tall, height),
        ]
        spec = drawing(canvas, grid, layers, height=height, named=True)
        found.append(Drawn(canvas=canvas, spec=spec, plot=plot_of(canvas, height=height, named=True)))
    return tuple(found)


def _pictures(
    grid: Grid, rows: Sequence[Mapping[str, Any]], unit: str, height: int, log: tuple[float, float] | None = None
) -> tuple[Drawn, ...]:
    found = []
    for canvas in CANVASES:
        layer = {
            "data": values(rows),
            "mark": {"type": "rect", "aria": False},
            "encoding": {
                "x": along(canvas, grid),
                "x2": {"field": "b"},
                "y": upward("l", unit, log=log),
                "y2": {"field": "h"},
                "color": _as_is("c"),
            },
        }
        spec = drawing(canvas, grid, [layer], height=height)
        found.append(Drawn(canvas=canvas, spec=spec, plot=plot_of(canvas, height=height)))
    return tuple(found)


def _box(grid: Grid, bucket: int, low: float, high: float, colour: str) -> Mapping[str, Any]:
    # a hair of paper between bars tells single buckets apart
    return {"a": grid.ms(bucket), "b": grid.ms(bucket + 0.9), "l": low, "h": high, "c": colour}


def _as_is(field: str) -> Spec:
    return {"field": field, "type": "nominal", "scale": None, "legend": None}


def _names(canvas: Canvas, labels: Sequence[str], tall: int, height: int) -> Spec:
    above = canvas is NARROW
    rows = [{"y": number * tall + (7 if above else tall / 2), "t": label} for number, label in enumerate(labels)]
    mark = {
        "type": "text",
        "aria": False,
        "align": "left" if above else "right",
        "x": 4 - canvas.names if above else -8,
        "baseline": "middle",
        "fontSize": 11,
        "limit": (canvas.names + canvas.plot if above else canvas.names) - 12,
        "color": "var(--text)",
    }
    return {
        "data": values(rows),
        "mark": mark,
        "encoding": {"y": _pixels("y", height), "text": {"field": "t", "type": "nominal"}},
    }


def _pixels(field: str, height: int) -> Spec:
    scale = {"domain": [0, height], "range": [0, height], "nice": False, "zero": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": None}
