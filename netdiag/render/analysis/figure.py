"""A chart of the page: its pictures over one axis of time, the series behind them, and a table that says the same.

Every chart is drawn twice, wide and narrow, because letters of a picture that is scaled to a telephone cannot be read.
The time axis of all wide charts is at the same place, so that the eye can go straight down from one to the next.

Vega draws them (vl-convert-python, the wheel that carries Vega and a JavaScript engine to run it in), because its SVG
has no style attribute and no script, so that the page keeps a policy in which only our own style and script run; its
colours may be CSS variables, so that light and dark are one picture; a chart is 20 kB. docs/architecture.md says what
else was measured. Names never enter an expression of Vega, only its data.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import ceil, floor, log10
from typing import Any

from netdiag.errors import cannot_import
from netdiag.patterns import regex
from netdiag.render.analysis.tables import Row
from netdiag.render.html import ELLIPSIS, visible
from netdiag.traffic.analysis import Buckets
from netdiag.values import dataclass

_TOP, _BOTTOM, _RIGHT = 16, 22, 12
# Pixels: the widest label above a line ("12 +11"), and what is between lines that can be told apart.
_LABEL_WIDTH, _LINE_DISTANCE = 48, 5
_SECOND_US, _MINUTE_US, _HOUR_US = 1_000_000, 60_000_000, 3_600_000_000
_COUNT_FORMAT = "format(datum.value, '~s')"
_AXIS_LABELS = {
    # what is counted has no halves
    "": f"datum.value % 1 ? '' : {_COUNT_FORMAT}",
    "/s": _COUNT_FORMAT,
    "B/s": f"replace({_COUNT_FORMAT}, regexp('([kMGT]?)$'), ' $1') + 'B/s'",
    "ms": "datum.value >= 1000 ? format(datum.value / 1000, '~g') + ' s' : format(datum.value, '~g') + ' ms'",
}
HEIGHT, LOW = 118, 84
_ROW, _NARROW_ROW = 18, 26
_LEAST = 0.01
# A hundredth of a pixel is exact enough, and a third of a picture is digits behind it. Text has no "<" of its own.
_PATH = regex(r'(<path (?:[a-z-]+="[^"<>]*" )*?d=")([^"<>]*)')
_LONG_FRACTION = regex(r"(\.\d\d)\d+")
# Longer names are shortened in their middle, where names of a kind differ least; nobody reads more in a table.
LONGEST_NAME = 64

SERIES_COLOURS = tuple(f"var(--c{number})" for number in range(1, 9))

REST = "var(--rest)"

Spec = dict[str, Any]

Numbers = tuple[float | None, ...]


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
class FindingMark:
    """A finding on the time axis: its number on the page, microseconds, its colour."""

    number: int
    time: int
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeAxis:
    """Where time runs: the buckets of the page, and the findings that are marked on it."""

    span: Buckets
    marks: Sequence[FindingMark] = ()

    def ms(self, bucket: float) -> float:
        """Where a bucket begins, milliseconds since 1970."""
        return (self.span.first + bucket * self.span.length) / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One value per bucket of the page, null where nothing is known; `colour` as CSS knows it."""

    label: str
    colour: str
    values: Numbers
    is_dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
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
    drawn: tuple[Picture, ...]
    table: Table
    columns: int
    legend: tuple[tuple[str, str], ...] = ()
    has_rows: bool = False
    choice: str = ""
    word: str = ""


def stacked_bars(
    time_axis: TimeAxis, series: Sequence[Series], unit: str, *, height: int = HEIGHT
) -> tuple[Picture, ...]:
    """Bars on top of one another, the first series at the bottom."""
    rows: list[Row] = []
    bottom = [0.0] * time_axis.span.count
    for one in series:
        for bucket, value in enumerate(one.values):
            if value:
                low, bottom[bucket] = bottom[bucket], bottom[bucket] + value
                rows.append(_box(time_axis, bucket, low, bottom[bucket], one.colour))
    return _bars(time_axis, rows, unit, height)


def percentile_bands(
    time_axis: TimeAxis, low: Sequence[Numbers], colours: Sequence[str], *, height: int = HEIGHT
) -> tuple[Picture, ...]:
    """Bars from each line to the next on a logarithmic axis, a thin one for the lowest line itself."""
    known = [max(value, _LEAST) for line in low for value in line if value is not None]
    most, least = max(known, default=1.0), min(known, default=1.0)
    domain = (least / 1.5, max(most, least * 10) * 1.5)
    thin = (domain[1] / domain[0]) ** (1 / height)
    rows = []
    for bucket in range(time_axis.span.count):
        at = [max(value, _LEAST) for line in low if (value := line[bucket]) is not None]
        if len(at) != len(low):
            continue
        for below, above, colour in zip(at, at[1:], colours[1:], strict=False):
            rows.append(_box(time_axis, bucket, below, above, colour))
        rows.append(_box(time_axis, bucket, at[0] / thin, at[0] * thin, colours[0]))
    return _bars(time_axis, rows, "ms", height, log=domain)


def step_lines(
    time_axis: TimeAxis, series: Sequence[Series], unit: str, *, height: int = HEIGHT
) -> tuple[Picture, ...]:
    """Lines that stay as they are until they change."""
    rows = [
        {"a": time_axis.ms(bucket), "h": value, "c": one.colour, "k": number, "d": one.is_dashed}
        for number, one in enumerate(series)
        for bucket, value in (*enumerate(one.values), (time_axis.span.count, one.values[-1]))
        if value is not None
    ]
    return _over_time(
        time_axis,
        lambda time: {
            "data": inline_data(rows),
            "mark": {"type": "line", "aria": False, "interpolate": "step-after", "strokeWidth": 2},
            "encoding": {
                "x": time,
                "y": value_encoding("h", unit),
                "color": _as_is("c"),
                "detail": {"field": "k", "type": "nominal"},
                "strokeDash": {"condition": {"test": "datum.d", "value": [5, 3]}, "value": [1, 0]},
            },
        },
        height,
    )


def row_boxes(time_axis: TimeAxis, labels: Sequence[str], boxes: Sequence[Row]) -> tuple[Picture, ...]:
    """Boxes in rows with a name each: beside the row where there is room, above it where there is none."""
    found = []
    for canvas in CANVASES:
        tall = _NARROW_ROW if canvas is NARROW else _ROW
        height = tall * len(labels)
        inset = 12 if canvas is NARROW else 1
        rows = [{**box, "l": box["y"] * tall + inset, "h": (box["y"] + 1) * tall - 1} for box in boxes]
        layers: list[Spec] = [
            {
                "data": inline_data(rows),
                "mark": {"type": "rect", "aria": False},
                "encoding": {
                    "x": time_encoding(canvas, time_axis),
                    "x2": {"field": "b"},
                    "y": _pixels("l", height),
                    "y2": {"field": "h"},
                    "color": _as_is("c"),
                },
            },
            _names(canvas, labels, tall, height),
        ]
        spec = layered_spec(canvas, time_axis, layers, height=height, named=True)
        found.append(Picture(canvas=canvas, spec=spec, plot=plot_area(canvas, height=height, named=True)))
    return tuple(found)


def vega_svg(spec: Mapping[str, Any]) -> str:
    """The picture. Whatever a specification names, nothing is fetched for it."""
    try:
        import vl_convert
    except ImportError as error:
        raise cannot_import("--report", error, extra="report") from error
    drawn: str = vl_convert.vegalite_to_svg(json.dumps(spec), allowed_base_urls=[])
    return _PATH.sub(lambda path: path[1] + _LONG_FRACTION.sub(r"\1", path[2]), drawn)


def short_name(text: str, longest: int = LONGEST_NAME) -> str:
    """A foreign name, harmless and not long."""
    shown = visible(text[: 4 * longest] + text[-4 * longest :] if len(text) > 8 * longest else text)
    if len(shown) <= longest:
        return shown
    tail = (longest - 1) // 3
    return shown[: longest - 1 - tail] + ELLIPSIS + shown[-tail:]


def number_text(number: float) -> str:
    """A number at three digits or all of its integer part."""
    if number >= 100 or number == int(number):
        return f"{number:,.0f}"
    return f"{number:.3g}"


def clock_text(span: Buckets, bucket: int) -> str:
    """The time of day at which a bucket begins, with its date where the span has several days."""
    time = span.begin(bucket)
    whole = datetime.fromtimestamp(time // _SECOND_US, UTC)
    days = span.first // (86_400 * _SECOND_US) != (span.end - 1) // (86_400 * _SECOND_US)
    text = f"{whole:%Y-%m-%d %H:%M:%S}" if days else f"{whole:%H:%M:%S}"
    return f"{text}.{time % _SECOND_US // 1000:03d}" if span.length % _SECOND_US else text


def _bars(
    time_axis: TimeAxis, rows: Sequence[Row], unit: str, height: int, log: tuple[float, float] | None = None
) -> tuple[Picture, ...]:
    return _over_time(
        time_axis,
        lambda time: {
            "data": inline_data(rows),
            "mark": {"type": "rect", "aria": False},
            "encoding": {
                "x": time,
                "x2": {"field": "b"},
                "y": value_encoding("l", unit, log=log),
                "y2": {"field": "h"},
                "color": _as_is("c"),
            },
        },
        height,
    )


def _over_time(time_axis: TimeAxis, layer: Callable[[Spec], Spec], height: int) -> tuple[Picture, ...]:
    """A picture for every canvas; `layer` makes it of the encoding of time."""
    return tuple(
        Picture(
            canvas=canvas,
            spec=layered_spec(canvas, time_axis, [layer(time_encoding(canvas, time_axis))], height=height),
            plot=plot_area(canvas, height=height),
        )
        for canvas in CANVASES
    )


def _box(time_axis: TimeAxis, bucket: int, low: float, high: float, colour: str) -> Row:
    # a hair of paper between bars tells single buckets apart
    return {"a": time_axis.ms(bucket), "b": time_axis.ms(bucket + 0.9), "l": low, "h": high, "c": colour}


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
        "data": inline_data(rows),
        "mark": mark,
        "encoding": {"y": _pixels("y", height), "text": {"field": "t", "type": "nominal"}},
    }


def _pixels(field: str, height: int) -> Spec:
    scale = {"domain": [0, height], "range": [0, height], "nice": False, "zero": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": None}


def layered_spec(
    canvas: Canvas, time_axis: TimeAxis, layers: Sequence[Spec], *, height: int, named: bool = False
) -> Spec:
    """A specification of layers over the time axis, with the marks of the findings on top."""
    return {
        "width": canvas.plot,
        "height": height,
        "autosize": "none",
        "padding": {"left": canvas.left(named=named), "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM},
        "background": None,
        "config": _CONFIG,
        "layer": [*layers, *_marks(canvas, time_axis)],
    }


def plot_area(canvas: Canvas, *, height: int, named: bool = False) -> tuple[int, int, int, int]:
    """Where the plot is in the picture: x, y, width, height."""
    return canvas.left(named=named), _TOP, canvas.plot, height


def time_encoding(canvas: Canvas, time_axis: TimeAxis, field: str = "a") -> Spec:
    """The encoding of time."""
    domain = [time_axis.ms(0), time_axis.ms(time_axis.span.count)]
    shape = _time_format(time_axis.span)
    ticks = canvas.ticks // 2 if shape.endswith("%L") else canvas.ticks
    label = f"utcFormat(datum.value, '{shape}')"
    axis = {"labelExpr": label, "tickCount": ticks, "labelOverlap": "greedy", "labelFlush": True}
    return {
        "field": field,
        "type": "temporal",
        "scale": {"type": "utc", "domain": domain, "nice": False},
        "axis": axis | {"title": None, "grid": False},
    }


def value_encoding(field: str, unit: str, *, log: tuple[float, float] | None = None) -> Spec:
    """The encoding of a quantity; `log` is the domain of a logarithmic axis."""
    scale = {"type": "log", "domain": list(log), "nice": False} if log else {"zero": True}
    axis: Spec = {"title": None, "tickCount": 4, "labelExpr": _AXIS_LABELS[unit], "labelOverlap": True}
    if log:
        axis |= {"values": _decades(*log)}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def inline_data(rows: Sequence[Row]) -> Spec:
    """Inline data."""
    return {"values": list(rows)}


def _marks(canvas: Canvas, time_axis: TimeAxis) -> list[Spec]:
    span = time_axis.span
    seen = sorted((one for one in time_axis.marks if span.first <= one.time <= span.end), key=lambda one: one.time)
    if not seen:
        return []
    pixel = span.length * span.count / canvas.plot
    lines: list[FindingMark] = []
    together: list[list[FindingMark]] = []
    for moment in seen:
        if not lines or moment.time - lines[-1].time > _LINE_DISTANCE * pixel:
            lines.append(moment)
        # Numbers that would stand on each other are one label.
        if together and moment.time - together[-1][0].time < _LABEL_WIDTH * pixel:
            together[-1].append(moment)
        else:
            together.append([moment])
    rows = [{"t": moment.time / 1000, "c": moment.colour} for moment in lines]
    labels = [{"t": those[0].time / 1000, "n": _mark_label(those), "c": _worst(those).colour} for those in together]
    colour = _as_is("c")
    time = {"field": "t", "type": "temporal"}
    rule = {"type": "rule", "aria": False, "strokeDash": [3, 3], "strokeWidth": 1.5}
    text = {"type": "text", "aria": False, "y": -7, "fontSize": 11, "fontWeight": "bold"}
    return [
        {"data": inline_data(rows), "mark": rule, "encoding": {"x": time, "color": colour}},
        {
            "data": inline_data(labels),
            "mark": text,
            "encoding": {"x": time, "color": colour, "text": {"field": "n", "type": "nominal"}},
        },
    ]


def _mark_label(those: Sequence[FindingMark]) -> str:
    """The number of the worst, and how many more there are."""
    return f"{_worst(those).number}" + (f" +{len(those) - 1}" if len(those) > 1 else "")


def _worst(those: Sequence[FindingMark]) -> FindingMark:
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
    if whole <= 10 * _SECOND_US:
        return "%H:%M:%S.%L"
    if whole <= 30 * _MINUTE_US:
        return "%H:%M:%S"
    return "%H:%M" if whole <= 36 * _HOUR_US else "%d %b %H:%M"


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
