"""The charts over time: requests, latency, errors, bytes, connections, lag."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from netdiag.render.analysis_page.canvas import REST, SERIES_COLOURS, Grid
from netdiag.render.analysis_page.figure import LOW, Figure, Numbers, Series, Table, bands, stacked, steps
from netdiag.render.analysis_page.wording import clock, few, plain
from netdiag.render.analysis_sections import duration, size
from netdiag.traffic.analysis import Charts

Rows = Sequence[Mapping[str, Any]]
_MILLION = 1_000_000


def time_figures(charts: Charts, grid: Grid) -> tuple[Figure, ...]:
    """Those that have something to show."""
    made = (requests, latency, errors, lag, connections, throughput)
    return tuple(figure for make in made if (figure := make(charts, grid)) is not None)


def requests(charts: Charts, grid: Grid) -> Figure | None:
    """Requests per second, and those of them that went wrong."""
    rows = charts.rows("traffic_over_time")
    if not rows:
        return None
    seconds = grid.span.length / _MILLION
    wrong = _column(grid, rows, lambda row: min(row["requests"], row["errors"] + row["unanswered"]) / seconds)
    good = _column(grid, rows, lambda row: max(0, row["requests"] - row["errors"] - row["unanswered"]) / seconds)
    series = (
        Series(label="with an error or no answer", colour="var(--bad)", values=wrong),
        Series(label="others", colour=SERIES_COLOURS[0], values=good),
    )
    whole = sum(row["requests"] for row in rows)
    busiest = max(rows, key=lambda row: (row["requests"], -row["bucket"]))
    failed = sum(row["errors"] + row["unanswered"] for row in rows)
    summary = (
        f"{whole:,} requests, {failed:,} of them with an error or no answer; at most "
        f"{few(busiest['requests'] / seconds)} a second, at {clock(grid.span, busiest['bucket'])}."
    )
    return _over_time("requests", "Requests per second", summary, "/s", series, grid, stacked(grid, series, "/s"))


def latency(charts: Charts, grid: Grid) -> Figure | None:
    """Service time in bands."""
    rows = [row for row in charts.rows("traffic_over_time") if row["service_p50_ms"] is not None]
    if not rows:
        return None
    lines = [
        _column(grid, rows, lambda row, name=name: row[f"service_{name}_ms"], empty=None)  # type: ignore[misc]
        for name in ("p50", "p95", "p99")
    ]
    colours = ("var(--p50)", "var(--p95)", "var(--p99)")
    named = zip(("p50", "p50 to p95", "p95 to p99"), colours, lines, strict=True)
    series = tuple(Series(label=label, colour=colour, values=line) for label, colour, line in named)
    told = tuple(
        Series(label=label, colour=one.colour, values=one.values)
        for label, one in zip(("p50", "p95", "p99"), series, strict=True)
    )
    worst = max(rows, key=lambda row: (row["service_p99_ms"], -row["bucket"]))
    middle = sorted(row["service_p50_ms"] for row in rows)[len(rows) // 2]
    summary = (
        f"The median is usually {duration(middle)}; p99 is worst at {clock(grid.span, worst['bucket'])}, "
        f"{duration(worst['service_p99_ms'])}. Time to answer, less the waiting that was asked for; within 0.5 %."
    )
    figure = _over_time("latency", "Latency", summary, "ms", told, grid, bands(grid, lines, colours))
    return _with_legend(figure, [(one.label, one.colour) for one in series])


def errors(charts: Charts, grid: Grid) -> Figure | None:
    """Error codes and missing answers, by kind."""
    rows = charts.rows("errors_over_time")
    series = _by_kind(grid, rows, lambda row: row["error"] and f"{row['api_name']} {row['error']}", "times")
    if not series:
        return None
    first = min(row["bucket"] for row in rows)
    summary = f"{sum(row['times'] for row in rows):,} in all, the first at {clock(grid.span, first)}."
    return _over_time(
        "errors", "Errors and missing answers", summary, "", series, grid, stacked(grid, series, "", height=LOW)
    )


def connections(charts: Charts, grid: Grid) -> Figure | None:
    """How connections open and end."""
    rows = charts.rows("connections_over_time")
    kinds = (
        ("refused", "refused", "var(--bad)"),
        ("unanswered", "no answer to SYN", "var(--half)"),
        ("resets", "reset later", SERIES_COLOURS[3]),
        ("opened", "opened", SERIES_COLOURS[2]),
    )
    series = tuple(
        Series(label=label, colour=colour, values=_column(grid, rows, lambda row, name=name: row[name]))  # type: ignore[misc]
        for name, label, colour in kinds
        if any(row[name] for row in rows)
    )
    if not series:
        return None
    told = [f"{sum(row[name] for row in rows):,} {label}" for name, label, _ in reversed(kinds)]
    summary = f"{', '.join(told)}. What began before the capture is not in it."
    return _over_time("opened", "Connections", summary, "", series, grid, stacked(grid, series, "", height=LOW))


def throughput(charts: Charts, grid: Grid) -> Figure | None:
    """Bytes of requests and responses."""
    rows = charts.rows("traffic_over_time")
    if not rows:
        return None
    seconds = grid.span.length / _MILLION
    series = (
        Series(
            label="to brokers",
            colour=SERIES_COLOURS[0],
            values=_column(grid, rows, lambda row: row["request_bytes"] / seconds),
        ),
        Series(
            label="to clients",
            colour=SERIES_COLOURS[1],
            values=_column(grid, rows, lambda row: row["response_bytes"] / seconds),
        ),
    )
    sums = [sum(row[name] for row in rows) for name in ("request_bytes", "response_bytes")]
    summary = f"{size(sums[0])} to brokers, {size(sums[1])} to clients."
    return _over_time(
        "bytes", "Bytes per second", summary, "B/s", series, grid, stacked(grid, series, "B/s", height=LOW)
    )


def lag(charts: Charts, grid: Grid) -> Figure | None:
    """How far groups are behind."""
    lines: dict[tuple[str, str], dict[int, int]] = {}
    for row in charts.rows("lag_over_time"):
        lines.setdefault((row["group"], row["topic"]), {})[row["bucket"]] = row["lag_records"]
    if not lines:
        return None
    worst = sorted(lines, key=lambda key: (-max(lines[key].values()), key))
    series = tuple(
        Series(
            label=f"{plain(group)} in {plain(topic)}",
            colour=SERIES_COLOURS[number % len(SERIES_COLOURS)],
            values=_carried(grid, lines[group, topic]),
            is_dashed=number % 2 == 1,
        )
        for number, (group, topic) in enumerate(worst)
    )
    first = lines[worst[0]]
    most, last = max(first.values()), first[max(first)]
    at = min(bucket for bucket, value in first.items() if value == most)
    summary = (
        f"{plain(worst[0][0])} is furthest behind in {plain(worst[0][1])}: {most:,} records at "
        f"{clock(grid.span, at)}, {last:,} at the end. "
        "End of the log less committed offset, where the capture shows both."
    )
    return _over_time("lag", "Consumer lag in records", summary, "", series, grid, steps(grid, series, ""))


def _over_time(
    key: str, title: str, summary: str, unit: str, series: tuple[Series, ...], grid: Grid, drawn: Any
) -> Figure:
    return Figure(
        key=key,
        title=title,
        summary=summary,
        unit=unit,
        series=series,
        drawn=drawn,
        table=_table(title, unit, series, grid),
        columns=grid.span.count,
        legend=tuple((one.label, one.colour) for one in series),
    )


def _with_legend(figure: Figure, legend: Iterable[tuple[str, str]]) -> Figure:
    return replace(figure, legend=tuple(legend))


def _table(title: str, unit: str, series: Sequence[Series], grid: Grid) -> Table:
    told = {"ms": duration, "B/s": size}.get(unit, few)
    rows = []
    for bucket in range(grid.span.count):
        found = [one.values[bucket] for one in series]
        if any(found):
            rows.append((clock(grid.span, bucket), *("-" if value is None else told(value) for value in found)))
    return Table(
        caption=f"{title}, by time (UTC)",
        headings=("from", *(one.label for one in series)),
        rows=tuple(rows),
        numbers=(False, *(True for _ in series)),
    )


def _column(
    grid: Grid, rows: Rows, value: Callable[[Mapping[str, Any]], float | None], empty: float | None = 0.0
) -> Numbers:
    """A value per bucket; those without a row have the empty one."""
    found: list[float | None] = [empty] * grid.span.count
    for row in rows:
        found[row["bucket"]] = value(row)
    return tuple(found)


def _carried(grid: Grid, known: Mapping[int, int]) -> Numbers:
    """A value per bucket that stays until the next; nothing before the first."""
    found: list[float | None] = []
    for bucket in range(grid.span.count):
        found.append(known.get(bucket, found[-1] if found else None))
    return tuple(found)


def _by_kind(grid: Grid, rows: Rows, kind: Callable[[Mapping[str, Any]], str | None], field: str) -> tuple[Series, ...]:
    """A series per kind, most frequent first; the rest last."""
    kinds: dict[str | None, list[Mapping[str, Any]]] = {}
    for row in rows:
        kinds.setdefault(kind(row), []).append(row)
    order = sorted(kinds, key=lambda name: (name is None, -sum(row[field] for row in kinds[name]), name or ""))
    return tuple(
        Series(
            label="others" if name is None else plain(name),
            colour=REST if name is None else SERIES_COLOURS[(number + 1) % len(SERIES_COLOURS)],
            values=_column(grid, kinds[name], lambda row: row[field]),
        )
        for number, name in enumerate(order)
    )
