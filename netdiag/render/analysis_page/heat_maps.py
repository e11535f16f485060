"""Charts with a row each and a shade for every stretch of time: how brokers answer, what partitions carry."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from netdiag.render.analysis_page.canvas import Grid
from netdiag.render.analysis_page.figure import Figure, Series, Table, rows_of
from netdiag.render.analysis_page.wording import clock, few, plain
from netdiag.render.analysis_sections import duration, size
from netdiag.traffic.analysis import Charts

COLUMNS = 80
# Where one shade ends and the next begins, as shares of the greatest value.
_SHADES = (0.05, 0.15, 0.35, 0.65, 1.0)
_TOLD: Mapping[str, Callable[[float], str]] = {"B": size, "ms": duration, "": few}
Row = Mapping[str, Any]
# What a row of the map is of; None for the rest.
Key = TypeVar("Key")


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


def broker_maps(charts: Charts, grid: Grid) -> tuple[Figure, ...]:
    """Broker by time: what fails, how long it takes, how much is asked; those of which there is anything."""
    brokers: dict[str | None, list[Row]] = {}
    for row in charts.rows("brokers_over_time"):
        brokers.setdefault(row["broker"], []).append(row)
    order = sorted(brokers, key=lambda name: (name is None, -sum(row["requests"] for row in brokers[name]), name or ""))
    rows = {"all other brokers" if name is None else plain(name, 32): brokers[name] for name in order}
    return _maps(rows, grid, "brokers", _OF_BROKERS, _broker_table(rows, grid), None in brokers)


def partition_maps(charts: Charts, grid: Grid) -> tuple[Figure, ...]:
    """Partition by time: bytes, times that it is named, errors; those of which there are any."""
    partitions: dict[tuple[str, int] | None, list[Row]] = {}
    for row in charts.rows("partitions_over_time"):
        key = None if row["topic"] is None else (row["topic"], row["partition"])
        partitions.setdefault(key, []).append(row)
    order = sorted(partitions, key=lambda key: (key is None, -sum(r["bytes"] for r in partitions[key]), key or ("", 0)))
    names = ["all other partitions" if key is None else f"{plain(key[0], 28)}-{key[1]}" for key in order]
    # Names that are alike when they are short stay apart by their place.
    rows = {
        name if names.count(name) == 1 else f"{name} ({place})": partitions[key]
        for place, (name, key) in enumerate(zip(names, order, strict=True), 1)
    }
    return _maps(rows, grid, "partitions", _OF_PARTITIONS, _partition_table(rows, grid), None in partitions)


def _maps(
    rows: Mapping[str, Sequence[Row]],
    grid: Grid,
    choice: str,
    measures: Sequence[_Measure],
    table: Table,
    has_rest: bool,
) -> tuple[Figure, ...]:
    found = (_map(rows, grid, choice, measure, table, has_rest) for measure in measures)
    return tuple(figure for figure in found if figure is not None)


def _map(
    rows: Mapping[str, Sequence[Row]], grid: Grid, choice: str, measure: _Measure, table: Table, has_rest: bool
) -> Figure | None:
    every = -(-grid.span.count // COLUMNS)
    columns = -(-grid.span.count // every)
    values = {name: _joined(lines, measure, every, columns) for name, lines in rows.items()}
    names = list(rows)
    # The rest are many, and would make all others pale.
    told = names[:-1] if has_rest and len(names) > 1 else names
    known = [(value, name, n) for name in told for n, value in enumerate(values[name]) if value]
    if not known:
        return None
    most, where, at = max(known, key=lambda each: (each[0], -each[2]))
    boxes = [
        {"a": grid.ms(n * every), "b": grid.ms(min((n + 1) * every, grid.span.count)), "y": y, "c": _shade(value, most)}
        for y, name in enumerate(names)
        for n, value in enumerate(values[name])
        if value
    ]
    say = _TOLD[measure.unit]
    limits = [(shade, most * share) for shade, share in enumerate(_SHADES)]
    least = 1 if measure.is_sum else 0
    legend = tuple(
        (f"to {say(_round(limit, measure))}", f"var(--h{shade})") for shade, limit in limits if limit >= least
    )
    summary = f"Most is {say(most)} of {where} at {clock(grid.span, at * every)}"
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
        drawn=rows_of(grid, names, boxes),
        table=table,
        columns=columns,
        legend=legend,
        has_rows=True,
        choice=choice,
        word=measure.word,
    )


def _joined(lines: Sequence[Row], measure: _Measure, every: int, columns: int) -> tuple[float | None, ...]:
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


def _broker_table(rows: Mapping[str, Sequence[Row]], grid: Grid) -> Table:
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
                "-" if first is None else clock(grid.span, first),
                "-" if slow is None else duration(slow["service_p99_ms"]),
                "-" if slow is None else clock(grid.span, slow["bucket"]),
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


def _partition_table(rows: Mapping[str, Sequence[Row]], grid: Grid) -> Table:
    cells = []
    for name, lines in rows.items():
        busiest = max(lines, key=lambda row: (row["bytes"], row["requests"], -row["bucket"]))
        sums = [sum(row[field] for row in lines) for field in ("bytes", "requests", "errors")]
        cells.append((name, size(sums[0]), f"{sums[1]:,}", f"{sums[2]:,}", clock(grid.span, busiest["bucket"])))
    return Table(
        caption="Partitions: bytes of batches, times that an exchange names it, errors, when it is busiest (UTC)",
        headings=("partition", "bytes", "requests", "errors", "busiest at"),
        rows=tuple(cells),
        numbers=(False, True, True, True, False),
    )
