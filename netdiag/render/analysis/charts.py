"""The charts of the page: quantities over time, maps of brokers and partitions by time, rebalances of groups.

Each is made of the rows of an answer: series, a sentence, a table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from netdiag.render.analysis.figure import (
    LOW,
    REST,
    SERIES_COLOURS,
    Figure,
    Numbers,
    Series,
    Table,
    TimeAxis,
    clock_text,
    number_text,
    percentile_bands,
    row_boxes,
    short_name,
    stacked_bars,
    step_lines,
)
from netdiag.render.analysis.tables import Row, duration, moment, size
from netdiag.traffic.analysis import Analysis, Charts
from netdiag.values import dataclass

_MILLION = 1_000_000
MAP_COLUMNS = 80
# Where one shade ends and the next begins, as shares of the greatest value.
_SHADES = (0.05, 0.15, 0.35, 0.65, 1.0)
_UNIT_TEXT: Mapping[str, Callable[[float], str]] = {"B": size, "ms": duration, "": number_text}
MOST_GROUPS, MOST_BARS, MOST_REBALANCES = 12, 600, 200
_MEMBER_FAILED = frozenset({"session-timeout", "poll-interval", "error"})
_SUBSCRIPTION = frozenset({"new-partitions", "subscription", "enforced", "revocation"})
_CAUSES = (
    ("a member was lost or failed", "var(--bad)"),
    ("a member came or went", SERIES_COLOURS[0]),
    ("subscription or partitions", SERIES_COLOURS[2]),
    ("unknown", "var(--rest)"),
)

Rows = Sequence[Row]


def time_figures(charts: Charts, time_axis: TimeAxis) -> tuple[Figure, ...]:
    """Those that have something to show."""
    made = (requests_figure, latency_figure, errors_figure, lag_figure, connections_figure, throughput_figure)
    return tuple(figure for make in made if (figure := make(charts, time_axis)) is not None)


def broker_maps(charts: Charts, time_axis: TimeAxis) -> tuple[Figure, ...]:
    """Broker by time: what fails, how long it takes, how much is asked; those of which there is anything."""
    brokers: dict[str | None, list[Row]] = {}
    for row in charts.rows("brokers_over_time"):
        brokers.setdefault(row["broker"], []).append(row)
    order = sorted(brokers, key=lambda name: (name is None, -sum(row["requests"] for row in brokers[name]), name or ""))
    rows = {"all other brokers" if name is None else short_name(name, 32): brokers[name] for name in order}
    return _maps(rows, time_axis, "brokers", _OF_BROKERS, _broker_table(rows, time_axis), None in brokers)


def partition_maps(charts: Charts, time_axis: TimeAxis) -> tuple[Figure, ...]:
    """Partition by time: bytes, times that it is named, errors; those of which there are any."""
    partitions: dict[tuple[str, int] | None, list[Row]] = {}
    for row in charts.rows("partitions_over_time"):
        key = None if row["topic"] is None else (row["topic"], row["partition"])
        partitions.setdefault(key, []).append(row)
    order = sorted(partitions, key=lambda key: (key is None, -sum(r["bytes"] for r in partitions[key]), key or ("", 0)))
    names = ["all other partitions" if key is None else f"{short_name(key[0], 28)}-{key[1]}" for key in order]
    # Names that are alike when they are short stay apart by their place.
    rows = {
        name if names.count(name) == 1 else f"{name} ({place})": partitions[key]
        for place, (name, key) in enumerate(zip(names, order, strict=True), 1)
    }
    return _maps(rows, time_axis, "partitions", _OF_PARTITIONS, _partition_table(rows, time_axis), None in partitions)


def rebalance_figure(analysis: Analysis, time_axis: TimeAxis) -> Figure | None:
    """A row per group, a bar per rebalance as long as it took."""
    answer = analysis.answers.get("rebalances")
    if answer is None or not answer.rows:
        return None
    groups: dict[str, list[Row]] = {}
    for row in answer.rows:
        groups.setdefault(row["group"], []).append(row)
    order = sorted(groups, key=lambda name: (-len(groups[name]), name))[:MOST_GROUPS]
    bars = [
        {**_rebalance_bar(time_axis, row), "y": number}
        for number, name in enumerate(order)
        for row in _longest_rebalances(groups[name], time_axis, len(order))
    ]
    labels = [f"{short_name(name, 32)} ({len(groups[name]):,})" for name in order]
    most = order[0]
    summary = f"{answer.total:,} in {len(groups):,} groups; most in {short_name(most)}: {len(groups[most]):,}."
    if len(groups) > MOST_GROUPS:
        summary += f" The chart shows the {MOST_GROUPS} groups with the most."
    if answer.total > len(answer.rows):
        summary += f" It covers only the first {len(answer.rows):,}, by group name."
    counts = tuple(
        Series(label=label, colour="", values=_counts_per_bucket(groups[name], time_axis))
        for label, name in zip(labels, order, strict=True)
    )
    used = {bar["c"] for bar in bars}
    return Figure(
        key="rebalances",
        title="Group rebalances",
        summary=summary,
        unit="",
        series=counts,
        drawn=row_boxes(time_axis, labels, bars),
        table=_rebalance_table(answer.rows, answer.total),
        columns=time_axis.span.count,
        legend=tuple((label, colour) for label, colour in _CAUSES if colour in used),
        has_rows=True,
    )


def requests_figure(charts: Charts, time_axis: TimeAxis) -> Figure | None:
    """Requests per second, and those of them that went wrong."""
    rows = charts.rows("traffic_over_time")
    if not rows:
        return None
    seconds = time_axis.span.length / _MILLION
    wrong = _column(time_axis, rows, lambda row: min(row["requests"], row["errors"] + row["unanswered"]) / seconds)
    good = _column(time_axis, rows, lambda row: max(0, row["requests"] - row["errors"] - row["unanswered"]) / seconds)
    series = (
        Series(label="with an error or no answer", colour="var(--bad)", values=wrong),
        Series(label="others", colour=SERIES_COLOURS[0], values=good),
    )
    whole = sum(row["requests"] for row in rows)
    busiest = max(rows, key=lambda row: (row["requests"], -row["bucket"]))
    failed = sum(row["errors"] + row["unanswered"] for row in rows)
    summary = (
        f"{whole:,} requests, {failed:,} of them with an error or no answer; at most "
        f"{number_text(busiest['requests'] / seconds)} a second, at {clock_text(time_axis.span, busiest['bucket'])}."
    )
    return _over_time(
        "requests", "Requests per second", summary, "/s", series, time_axis, stacked_bars(time_axis, series, "/s")
    )


def latency_figure(charts: Charts, time_axis: TimeAxis) -> Figure | None:
    """Service time in bands."""
    rows = [row for row in charts.rows("traffic_over_time") if row["service_p50_ms"] is not None]
    if not rows:
        return None
    lines = [
        _column(time_axis, rows, lambda row, name=name: row[f"service_{name}_ms"], empty=None)  # type: ignore[misc]
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
        f"The median is usually {duration(middle)}; p99 is worst at {clock_text(time_axis.span, worst['bucket'])}, "
        f"{duration(worst['service_p99_ms'])}. Response time, without waits that the client requested; within 0.5 %."
    )
    figure = _over_time(
        "latency", "Latency", summary, "ms", told, time_axis, percentile_bands(time_axis, lines, colours)
    )
    return replace(figure, legend=tuple((one.label, one.colour) for one in series))


def errors_figure(charts: Charts, time_axis: TimeAxis) -> Figure | None:
    """Error codes and missing answers, by kind."""
    rows = charts.rows("errors_over_time")
    series = _by_kind(time_axis, rows, lambda row: row["error"] and f"{row['api_name']} {row['error']}", "times")
    if not series:
        return None
    first = min(row["bucket"] for row in rows)
    summary = f"{sum(row['times'] for row in rows):,} in all, the first at {clock_text(time_axis.span, first)}."
    return _over_time(
        "errors",
        "Errors and missing answers",
        summary,
        "",
        series,
        time_axis,
        stacked_bars(time_axis, series, "", height=LOW),
    )


def connections_figure(charts: Charts, time_axis: TimeAxis) -> Figure | None:
    """How connections open and end."""
    rows = charts.rows("connections_over_time")
    kinds = (
        ("refused", "refused", "var(--bad)"),
        ("unanswered", "no answer to SYN", "var(--half)"),
        ("resets", "reset later", SERIES_COLOURS[3]),
        ("opened", "opened", SERIES_COLOURS[2]),
    )
    series = tuple(
        Series(label=label, colour=colour, values=_column(time_axis, rows, lambda row, name=name: row[name]))  # type: ignore[misc]
        for name, label, colour in kinds
        if any(row[name] for row in rows)
    )
    if not series:
        return None
    told = [f"{sum(row[name] for row in rows):,} {label}" for name, label, _ in reversed(kinds)]
    summary = f"{', '.join(told)}. What began before the capture is not in it."
    return _over_time(
        "opened", "Connections", summary, "", series, time_axis, stacked_bars(time_axis, series, "", height=LOW)
    )


def throughput_figure(charts: Charts, time_axis: TimeAxis) -> Figure | None:
    """Bytes of requests and responses."""
    rows = charts.rows("traffic_over_time")
    if not rows:
        return None
    seconds = time_axis.span.length / _MILLION
    series = (
        Series(
            label="to brokers",
            colour=SERIES_COLOURS[0],
            values=_column(time_axis, rows, lambda row: row["request_bytes"] / seconds),
        ),
        Series(
            label="to clients",
            colour=SERIES_COLOURS[1],
            values=_column(time_axis, rows, lambda row: row["response_bytes"] / seconds),
        ),
    )
    sums = [sum(row[name] for row in rows) for name in ("request_bytes", "response_bytes")]
    summary = f"{size(sums[0])} to brokers, {size(sums[1])} to clients."
    return _over_time(
        "bytes",
        "Bytes per second",
        summary,
        "B/s",
        series,
        time_axis,
        stacked_bars(time_axis, series, "B/s", height=LOW),
    )


def lag_figure(charts: Charts, time_axis: TimeAxis) -> Figure | None:
    """How far groups are behind."""
    lines: dict[tuple[str, str], dict[int, int]] = {}
    for row in charts.rows("lag_over_time"):
        lines.setdefault((row["group"], row["topic"]), {})[row["bucket"]] = row["lag_records"]
    if not lines:
        return None
    worst = sorted(lines, key=lambda key: (-max(lines[key].values()), key))
    series = tuple(
        Series(
            label=f"{short_name(group)} in {short_name(topic)}",
            colour=SERIES_COLOURS[number % len(SERIES_COLOURS)],
            values=_carried(time_axis, lines[group, topic]),
            is_dashed=number % 2 == 1,
        )
        for number, (group, topic) in enumerate(worst)
    )
    first = lines[worst[0]]
    most, last = max(first.values()), first[max(first)]
    at = min(bucket for bucket, value in first.items() if value == most)
    summary = (
        f"{short_name(worst[0][0])} is furthest behind in {short_name(worst[0][1])}: {most:,} records at "
        f"{clock_text(time_axis.span, at)}, {last:,} at the end. "
        "End of the log less committed offset, where the capture shows both."
    )
    return _over_time(
        "lag", "Consumer lag in records", summary, "", series, time_axis, step_lines(time_axis, series, "")
    )


def _over_time(
    key: str, title: str, summary: str, unit: str, series: tuple[Series, ...], time_axis: TimeAxis, drawn: Any
) -> Figure:
    return Figure(
        key=key,
        title=title,
        summary=summary,
        unit=unit,
        series=series,
        drawn=drawn,
        table=_table_over_time(title, unit, series, time_axis),
        columns=time_axis.span.count,
        legend=tuple((one.label, one.colour) for one in series),
    )


def _table_over_time(title: str, unit: str, series: Sequence[Series], time_axis: TimeAxis) -> Table:
    told = {"ms": duration, "B/s": size}.get(unit, number_text)
    rows = []
    for bucket in range(time_axis.span.count):
        found = [one.values[bucket] for one in series]
        if any(found):
            rows.append(
                (clock_text(time_axis.span, bucket), *("-" if value is None else told(value) for value in found))
            )
    return Table(
        caption=f"{title}, by time (UTC)",
        headings=("from", *(one.label for one in series)),
        rows=tuple(rows),
        numbers=(False, *(True for _ in series)),
    )


def _column(
    time_axis: TimeAxis, rows: Rows, value: Callable[[Row], float | None], empty: float | None = 0.0
) -> Numbers:
    """A value per bucket; those without a row have the empty one."""
    found: list[float | None] = [empty] * time_axis.span.count
    for row in rows:
        found[row["bucket"]] = value(row)
    return tuple(found)


def _carried(time_axis: TimeAxis, known: Mapping[int, int]) -> Numbers:
    """A value per bucket that stays until the next; nothing before the first."""
    found: list[float | None] = []
    for bucket in range(time_axis.span.count):
        found.append(known.get(bucket, found[-1] if found else None))
    return tuple(found)


def _by_kind(time_axis: TimeAxis, rows: Rows, kind: Callable[[Row], str | None], field: str) -> tuple[Series, ...]:
    """A series per kind, most frequent first; the rest last."""
    kinds: dict[str | None, list[Row]] = {}
    for row in rows:
        kinds.setdefault(kind(row), []).append(row)
    order = sorted(kinds, key=lambda name: (name is None, -sum(row[field] for row in kinds[name]), name or ""))
    return tuple(
        Series(
            label="others" if name is None else short_name(name),
            colour=REST if name is None else SERIES_COLOURS[(number + 1) % len(SERIES_COLOURS)],
            values=_column(time_axis, kinds[name], lambda row: row[field]),
        )
        for number, name in enumerate(order)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measure:
    """What is shaded: a field, what stands above it, how it is joined over time, and how its greatest is told."""

    field: str
    word: str
    title: str
    unit: str = ""
    join: Callable[[float, float], float] = lambda one, other: one + other
    is_sum: bool = True


_OF_BROKERS = (
    _Measure(field="failures", word="failures", title="Errors and missing answers of brokers"),
    _Measure(
        field="service_p99_ms", word="latency", title="Latency of brokers, p99", unit="ms", join=max, is_sum=False
    ),
    _Measure(field="requests", word="requests", title="Requests to brokers"),
)

_OF_PARTITIONS = (
    _Measure(field="bytes", word="bytes", title="Bytes of partitions", unit="B"),
    _Measure(field="requests", word="requests", title="Requests that name partitions"),
    _Measure(field="errors", word="errors", title="Errors of partitions"),
)


def _maps(
    rows: Mapping[str, Sequence[Row]],
    time_axis: TimeAxis,
    choice: str,
    measures: Sequence[_Measure],
    table: Table,
    has_rest: bool,
) -> tuple[Figure, ...]:
    found = (_map(rows, time_axis, choice, measure, table, has_rest) for measure in measures)
    return tuple(figure for figure in found if figure is not None)


def _map(
    rows: Mapping[str, Sequence[Row]], time_axis: TimeAxis, choice: str, measure: _Measure, table: Table, has_rest: bool
) -> Figure | None:
    every = -(-time_axis.span.count // MAP_COLUMNS)
    columns = -(-time_axis.span.count // every)
    values = {name: _joined_buckets(lines, measure, every, columns) for name, lines in rows.items()}
    names = list(rows)
    # The rest are many, and would make all others pale.
    told = names[:-1] if has_rest and len(names) > 1 else names
    known = [(value, name, n) for name in told for n, value in enumerate(values[name]) if value]
    if not known:
        return None
    most, where, at = max(known, key=lambda each: (each[0], -each[2]))
    boxes = [
        {
            "a": time_axis.ms(n * every),
            "b": time_axis.ms(min((n + 1) * every, time_axis.span.count)),
            "y": y,
            "c": _shade(value, most),
        }
        for y, name in enumerate(names)
        for n, value in enumerate(values[name])
        if value
    ]
    say = _UNIT_TEXT[measure.unit]
    limits = [(shade, most * share) for shade, share in enumerate(_SHADES)]
    least = 1 if measure.is_sum else 0
    legend = tuple(
        (f"to {say(_round(limit, measure))}", f"var(--h{shade})") for shade, limit in limits if limit >= least
    )
    summary = f"The maximum is {say(most)}, {where} at {clock_text(time_axis.span, at * every)}"
    if measure.is_sum:
        wholes = {name: sum(filter(None, line)) for name, line in values.items()}
        top = max(told, key=lambda name: wholes[name])
        summary = f"{top} has {say(wholes[top])}, {wholes[top] / sum(wholes.values()):.0%} of all. {summary}"
    return Figure(
        key=f"{choice}-{measure.word}",
        title=measure.title,
        summary=f"{summary}.",
        unit=measure.unit,
        series=tuple(Series(label=name, colour="", values=values[name]) for name in names),
        drawn=row_boxes(time_axis, names, boxes),
        table=table,
        columns=columns,
        legend=legend,
        has_rows=True,
        choice=choice,
        word=measure.word,
    )


def _joined_buckets(lines: Sequence[Row], measure: _Measure, every: int, columns: int) -> tuple[float | None, ...]:
    found: list[float | None] = [0.0 if measure.is_sum else None] * columns
    for row in lines:
        value, column = row[measure.field], row["bucket"] // every
        before = found[column]
        if value is not None:
            found[column] = float(value) if before is None else measure.join(before, float(value))
    return tuple(found)


def _shade(value: float, most: float) -> str:
    shade = next(number for number, share in enumerate(_SHADES) if value <= most * share or share == 1.0)
    return f"var(--h{shade})"


def _round(limit: float, measure: _Measure) -> float:
    return limit if measure.unit == "ms" else round(limit)


def _broker_table(rows: Mapping[str, Sequence[Row]], time_axis: TimeAxis) -> Table:
    cells = []
    for name, lines in rows.items():
        requests, failures = (sum(row[field] for row in lines) for field in ("requests", "failures"))
        first = min((row["bucket"] for row in lines if row["failures"]), default=None)
        slow = max((row for row in lines if row["service_p99_ms"] is not None), key=_slowness, default=None)
        cells.append(
            (
                name,
                f"{requests:,}",
                f"{failures:,}",
                "-" if first is None else clock_text(time_axis.span, first),
                "-" if slow is None else duration(slow["service_p99_ms"]),
                "-" if slow is None else clock_text(time_axis.span, slow["bucket"]),
            )
        )
    return Table(
        caption="Brokers: requests, errors and missing answers with the time of the first, and when p99 is worst (UTC)",
        headings=("broker", "requests", "failures", "first at", "worst p99", "at"),
        rows=tuple(cells),
        numbers=(False, True, True, False, True, False),
    )


def _slowness(row: Row) -> tuple[float, int]:
    return row["service_p99_ms"], -row["bucket"]


def _partition_table(rows: Mapping[str, Sequence[Row]], time_axis: TimeAxis) -> Table:
    cells = []
    for name, lines in rows.items():
        busiest = max(lines, key=lambda row: (row["bytes"], row["requests"], -row["bucket"]))
        sums = [sum(row[field] for row in lines) for field in ("bytes", "requests", "errors")]
        cells.append(
            (name, size(sums[0]), f"{sums[1]:,}", f"{sums[2]:,}", clock_text(time_axis.span, busiest["bucket"]))
        )
    return Table(
        caption="Partitions: bytes of batches, times that an exchange names it, errors, when it is busiest (UTC)",
        headings=("partition", "bytes", "requests", "errors", "busiest at"),
        rows=tuple(cells),
        numbers=(False, True, True, True, False),
    )


def _rebalance_bar(time_axis: TimeAxis, row: Row) -> dict[str, Any]:
    least = (time_axis.ms(time_axis.span.count) - time_axis.ms(0)) / 250
    begin = row["time"] / 1e6
    return {"a": begin, "b": max(begin + least, (row["end_time"] or row["time"]) / 1e6), "c": _cause_colour(row)}


def _cause_colour(row: Row) -> str:
    trigger = row["trigger"]
    if trigger in _MEMBER_FAILED:
        return _CAUSES[0][1]
    if trigger == "unknown":
        return _CAUSES[3][1]
    return _CAUSES[2][1] if trigger in _SUBSCRIPTION else _CAUSES[1][1]


def _longest_rebalances(rows: Sequence[Row], time_axis: TimeAxis, groups: int) -> Sequence[Row]:
    """All of them, or of many the longest of each bucket and colour."""
    if len(rows) <= MOST_BARS // groups:
        return rows
    best: dict[tuple[int, str], Row] = {}
    for row in rows:
        key = (_bucket_of(row, time_axis), _cause_colour(row))
        if key not in best or _duration_ms(row) > _duration_ms(best[key]):
            best[key] = row
    return tuple(best.values())


def _duration_ms(row: Row) -> float:
    return row["duration_ms"] or 0.0


def _bucket_of(row: Row, time_axis: TimeAxis) -> int:
    return int((row["time"] // 1000 - time_axis.span.first) // time_axis.span.length)


def _counts_per_bucket(rows: Sequence[Row], time_axis: TimeAxis) -> Numbers:
    counts = [0.0] * time_axis.span.count
    for row in rows:
        bucket = _bucket_of(row, time_axis)
        if 0 <= bucket < time_axis.span.count:
            counts[bucket] += 1
    return tuple(counts)


def _rebalance_table(rows: Sequence[Row], total: int) -> Table:
    shown = sorted(rows, key=lambda row: (-_duration_ms(row), row["group"], row["generation"]))[:MOST_REBALANCES]
    cells = tuple(
        (
            moment(row["time"]),
            short_name(row["group"]),
            f"{row['generation']:,}",
            row["trigger"],
            short_name(row["trigger_client_id"] or row["trigger_client"] or "-"),
            f"{len(row['members']):,}",
            duration(row["duration_ms"]),
            row["state"],
        )
        for row in shown
    )
    return Table(
        caption="Rebalances, the longest first",
        headings=("begin (UTC)", "group", "generation", "trigger", "by", "members", "took", "state"),
        rows=cells,
        numbers=(False, False, True, False, False, True, True, False),
        more=total - len(cells),
    )
