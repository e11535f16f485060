"""What every chart over time shares: its measures, its axes, its colours, and the marks of the findings.

Every chart is drawn twice, wide and narrow, because letters of a picture that is scaled to a telephone cannot be read.
The time axis of all wide charts is at the same place, so that the eye can go straight down from one to the next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

from netdiag.traffic.buckets import Buckets

SERIES_COLOURS = tuple(f"var(--c{number})" for number in range(1, 9))
REST = "var(--rest)"
_TOP, _BOTTOM, _RIGHT = 16, 22, 12
# Pixels: the widest label above a line ("12 +11"), and what is between lines that can be told apart.
_LABEL, _APART = 48, 5
_SECOND, _MINUTE, _HOUR = 1_000_000, 60_000_000, 3_600_000_000
_COUNT = "format(datum.value, '~s')"
_LABELS = {
    # what is counted has no halves
    "": f"datum.value % 1 ? '' : {_COUNT}",
    "/s": _COUNT,
    "B/s": f"replace({_COUNT}, regexp('([kMGT]?)$'), ' $1') + 'B/s'",
    "ms": "datum.value >= 1000 ? format(datum.value / 1000, '~g') + ' s' : format(datum.value, '~g') + ' ms'",
}

Spec = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Canvas:
    """Pixels: of the plot, and of what is left of it for labels; `names` for labels that are names."""

    css: str
    plot: int
    labels: int
    names: int
    ticks: int

    def width(self, *, named: bool) -> int:
        """Of the whole picture."""
        return self.left(named=named) + self.plot + _RIGHT

    def left(self, *, named: bool) -> int:
        """Where the plot begins."""
        return self.names if named else self.labels


WIDE = Canvas(css="wide", plot=920, labels=64, names=244, ticks=10)
NARROW = Canvas(css="narrow", plot=316, labels=52, names=52, ticks=4)
CANVASES = (WIDE, NARROW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A finding on the time axis: its number on the page, microseconds, its colour."""

    number: int
    time: int
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Where time runs: the buckets of the page, and the findings that are marked on it."""

    span: Buckets
    moments: Sequence[Moment] = ()

    def ms(self, bucket: float) -> float:
        """Where a bucket begins, milliseconds since 1970."""
        return (self.span.first + bucket * self.span.length) / 1000


def drawing(canvas: Canvas, grid: Grid, layers: Sequence[Spec], *, height: int, named: bool = False) -> Spec:
    """A specification of layers over the time axis, with the marks of the findings on top."""
    return {
        "width": canvas.plot,
        "height": height,
        "autosize": "none",
        "padding": {"left": canvas.left(named=named), "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM},
        "background": None,
        "config": _CONFIG,
        "layer": [*layers, *_marks(canvas, grid)],
    }


def plot_of(canvas: Canvas, *, height: int, named: bool = False) -> tuple[int, int, int, int]:
    """Where the plot is in the picture: x, y, width, height."""
    return canvas.left(named=named), _TOP, canvas.plot, height


def along(canvas: Canvas, grid: Grid, field: str = "a") -> Spec:
    """The encoding of time."""
    domain = [grid.ms(0), grid.ms(grid.span.count)]
    shape = _time_format(grid.span)
    ticks = canvas.ticks // 2 if shape.endswith("%L") else canvas.ticks
    label = f"utcFormat(datum.value, '{shape}')"
    axis = {"labelExpr": label, "tickCount": ticks, "labelOverlap": "greedy", "labelFlush": True}
    return {
        "field": field,
        "type": "temporal",
        "scale": {"type": "utc", "domain": domain, "nice": False},
        "axis": axis | {"title": None, "grid": False},
    }


def upward(field: str, unit: str, *, log: tuple[float, float] | None = None) -> Spec:
    """The encoding of a quantity; `log` is the domain of a logarithmic axis."""
    scale = {"type": "log", "domain": list(log), "nice": False} if log else {"zero": True}
    axis: Spec = {"title": None, "tickCount": 4, "labelExpr": _LABELS[unit], "labelOverlap": True}
    if log:
        axis |= {"values": _decades(*log)}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def values(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Inline data."""
    return {"values": list(rows)}


def _marks(canvas: Canvas, grid: Grid) -> list[Spec]:
    span = grid.span
    seen = sorted((one for one in grid.moments if span.first <= one.time <= span.end), key=lambda one: one.time)
    if not seen:
        return []
    pixel = span.length * span.count / canvas.plot
    lines: list[Moment] = []
    together: list[list[Moment]] = []
    for moment in seen:
        if not lines or moment.time - lines[-1].time > _APART * pixel:
            lines.append(moment)
        # Numbers that would stand on each other are one label.
        if together and moment.time - together[-1][0].time < _LABEL * pixel:
            together[-1].append(moment)
        else:
            together.append([moment])
    rows = [{"t": moment.time / 1000, "c": moment.colour} for moment in lines]
    labels = [{"t": those[0].time / 1000, "n": _label(those), "c": _worst(those).colour} for those in together]
    colour = {"field": "c", "type": "nominal", "scale": None, "legend": None}
    time = {"field": "t", "type": "temporal"}
    rule = {"type": "rule", "aria": False, "strokeDash": [3, 3], "strokeWidth": 1.5}
    text = {"type": "text", "aria": False, "y": -7, "fontSize": 11, "fontWeight": "bold"}
    return [
        {"data": values(rows), "mark": rule, "encoding": {"x": time, "color": colour}},
        {
            "data": values(labels),
            "mark": text,
            "encoding": {"x": time, "color": colour, "text": {"field": "n", "type": "nominal"}},
        },
    ]


def _label(those: Sequence[Moment]) -> str:
    """The number of the worst, and how many more there are."""
    return f"{_worst(those).number}" + (f" +{len(those) - 1}" if len(those) > 1 else "")


def _worst(those: Sequence[Moment]) -> Moment:
    return min(those, key=lambda moment: moment.number)


def _decades(least: float, most: float) -> list[float]:
    """Powers of ten in a domain, and what lies between them where there are few."""
    powers = range(floor(log10(least)), ceil(log10(most)) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5)):
        found = [factor * 10.0**power for power in powers for factor in factors]
        found = [value for value in found if least <= value <= most]
        if len(found) >= 3:
            break
    return found


def _time_format(span: Buckets) -> str:
    whole = span.length * span.count
    if whole <= 10 * _SECOND:
        return "%H:%M:%S.%L"
    if whole <= 30 * _MINUTE:
        return "%H:%M:%S"
    return "%H:%M" if whole <= 36 * _HOUR else "%d %b %H:%M"


_CONFIG: Spec = {
    "font": "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--quiet)",
        "labelFontSize": 11,
        "domainColor": "var(--rule)",
        "gridColor": "var(--grid)",
        "tickColor": "var(--rule)",
        "tickSize": 4,
        "labelLimit": 0,
    },
}
