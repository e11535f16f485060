"""The charts with a row each: rebalances by group, what partitions carry."""

from collections.abc import Mapping, Sequence
from typing import Any

from netdiag.render.analysis_page.canvas import (
    CANVASES,
    NARROW,
    SERIES_COLOURS,
    Canvas,
    Grid,
    Spec,
    along,
    drawing,
    plot_of,
    values,
)
from netdiag.render.analysis_page.figure import Drawn, Figure, Numbers, Series, Table
from netdiag.render.analysis_page.wording import clock, few, plain
from netdiag.render.analysis_sections import duration, moment, size
from netdiag.traffic.analysis import Analysis, Charts

GROUPS, BARS, TOLD = 12, 600, 200
COLUMNS = 80
_ROW, _NARROW_ROW = 18, 26
# Where one shade of a heat map ends and the next begins, as shares of the greatest value.
_SHADES = (0.05, 0.15, 0.35, 0.65, 1.0)
_BAD = frozenset({"session-timeout", "poll-interval", "error"})
_OURS = frozenset({"new-partitions", "subscription", "enforced", "revocation"})
_WHY = (
    ("a member was lost or failed", "var(--bad)"),
    ("a member came or went", SERIES_COLOURS[0]),
    ("subscription or partitions", SERIES_COLOURS[2]),
    ("unknown", "var(--rest)"),
)
Row = Mapping[str, Any]


def rebalances(analysis: Analysis, grid: Grid) -> Figure | None:
    """A row per group, a bar per rebalance as long as it took."""
    answer = analysis.answers.get("rebalances")
    if answer is None or not answer.rows:
        return None
    groups: dict[str, list[Row]] = {}
    for row in answer.rows:
        groups.setdefault(row["group"], []).append(row)
    order = sorted(groups, key=lambda name: (-len(groups[name]), name))[:GROUPS]
    bars = [
        {**_bar(grid, row), "y": number}
        for number, name in enumerate(order)
        for row in _longest(groups[name], grid, len(order))
    ]
    labels = [f"{plain(name, 32)} ({len(groups[name]):,})" for name in order]
    most = order[0]
    summary = f"{answer.total:,} in {len(groups):,} groups; most in {plain(most)}: {len(groups[most]):,}."
    if len(groups) > GROUPS:
        summary += f" Drawn are the {GROUPS} groups with most."
    if answer.total > len(answer.rows):
        summary += f" Of all of them the first {len(answer.rows):,} by name of the group are looked at."
    counts = tuple(
        Series(label=label, colour="", values=_counted(groups[name], grid))
        for label, name in zip(labels, order, strict=True)
    )
    used = {bar["c"] for bar in bars}
    return Figure(
        key="rebalances",
        title="Group rebalances",
        summary=summary,
        unit="",
        series=counts,
        drawn=_rows_of(grid, labels, bars),
        table=_rebalance_table(answer.rows, answer.total),
        columns=grid.span.count,
        legend=tuple((label, colour) for label, colour in _WHY if colour in used),
        has_rows=True,
    )


def heat_maps(charts: Charts, grid: Grid) -> tuple[Figure, ...]:
    """Partition by time: bytes, times that it is named, errors; those of which there are any."""
    partitions: dict[tuple[str, int] | None, list[Row]] = {}
    for row in charts.rows("partitions_over_time"):
        key = None if row["topic"] is None else (row["topic"], row["partition"])
        partitions.setdefault(key, []).append(row)
    if not partitions:
        return ()
    order = sorted(partitions, key=lambda key: (key is None, -sum(r["bytes"] for r in partitions[key]), key or ("", 0)))
    table = _partition_table(partitions, order, grid)
    found = []
    for field, title, unit in (
        ("bytes", "Bytes of partitions", "B"),
        ("requests", "Requests that name partitions", ""),
        ("errors", "Errors of partitions", ""),
    ):
        figure = _heat(partitions, order, grid, field, title, unit, table)
        if figure is not None:
            found.append(figure)
    return tuple(found)


def _heat(
    partitions: Mapping[tuple[str, int] | None, Sequence[Row]],
    order: Sequence[tuple[str, int] | None],
    grid: Grid,
    field: str,
    title: str,
    unit: str,
    table: Table,
) -> Figure | None:
    every = -(-grid.span.count // COLUMNS)
    columns = -(-grid.span.count // every)
    sums = {key: [0] * columns for key in order}
    for key in order:
        for row in partitions[key]:
            sums[key][row["bucket"] // every] += row[field]
    most = max(max(line) for key, line in sums.items() if key is not None or len(sums) == 1)
    if not most:
        return None
    labels = [_partition(key) for key in order]
    cells = [
        {"a": grid.ms(n * every), "b": grid.ms(min((n + 1) * every, grid.span.count)), "y": y, "c": _shade(value, most)}
        for y, key in enumerate(order)
        for n, value in enumerate(sums[key])
        if value
    ]
    told = size if unit == "B" else few
    limits = [most * share for share in _SHADES]
    legend = tuple(
        (f"to {told(round(limit, 1))}", f"var(--h{shade})") for shade, limit in enumerate(limits) if limit >= 1
    )
    wholes = {key: sum(line) for key, line in sums.items()}
    top = max(order, key=lambda key: (key is not None, wholes[key]))
    share = wholes[top] / max(1, sum(wholes.values()))
    series = tuple(
        Series(label=label, colour="", values=_floats(sums[key])) for label, key in zip(labels, order, strict=True)
    )
    return Figure(
        key=f"heat-{field}",
        title=title,
        summary=f"{_partition(top)} has {told(wholes[top])}, {share:.0%} of all.",
        unit=unit,
        series=series,
        drawn=_rows_of(grid, labels, cells),
        table=table,
        columns=columns,
        legend=legend,
        has_rows=True,
    )


def _rows_of(grid: Grid, labels: Sequence[str], boxes: Sequence[Mapping[str, Any]]) -> tuple[Drawn, ...]:
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


def _bar(grid: Grid, row: Row) -> dict[str, Any]:
    least = (grid.ms(grid.span.count) - grid.ms(0)) / 250
    begin = row["time"] / 1e6
    return {"a": begin, "b": max(begin + least, (row["end_time"] or row["time"]) / 1e6), "c": _colour(row)}


def _colour(row: Row) -> str:
    trigger = row["trigger"]
    if trigger in _BAD:
        return _WHY[0][1]
    if trigger == "unknown":
        return _WHY[3][1]
    return _WHY[2][1] if trigger in _OURS else _WHY[1][1]


def _longest(rows: Sequence[Row], grid: Grid, groups: int) -> Sequence[Row]:
    """All of them, or of many the longest of each bucket and colour."""
    if len(rows) <= BARS // groups:
        return rows
    best: dict[tuple[int, str], Row] = {}
    for row in rows:
        key = (_bucket(row, grid), _colour(row))
        if key not in best or _took(row) > _took(best[key]):
            best[key] = row
    return tuple(best.values())


def _took(row: Row) -> float:
    return row["duration_ms"] or 0.0


def _bucket(row: Row, grid: Grid) -> int:
    return int((row["time"] // 1000 - grid.span.first) // grid.span.length)


def _counted(rows: Sequence[Row], grid: Grid) -> Numbers:
    counts = [0.0] * grid.span.count
    for row in rows:
        bucket = _bucket(row, grid)
        if 0 <= bucket < grid.span.count:
            counts[bucket] += 1
    return tuple(counts)


def _floats(values_of: Sequence[int]) -> Numbers:
    return tuple(float(value) for value in values_of)


def _shade(value: int, most: int) -> str:
    shade = next(number for number, share in enumerate(_SHADES) if value <= most * share or share == 1.0)
    return f"var(--h{shade})"


def _partition(key: tuple[str, int] | None) -> str:
    return "all other partitions" if key is None else f"{plain(key[0], 28)}-{key[1]}"


def _rebalance_table(rows: Sequence[Row], total: int) -> Table:
    shown = sorted(rows, key=lambda row: (-_took(row), row["group"], row["generation"]))[:TOLD]
    cells = tuple(
        (
            moment(row["time"]),
            plain(row["group"]),
            f"{row['generation']:,}",
            row["trigger"],
            plain(row["trigger_client_id"] or row["trigger_client"] or "-"),
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


def _partition_table(
    partitions: Mapping[tuple[str, int] | None, Sequence[Row]], order: Sequence[tuple[str, int] | None], grid: Grid
) -> Table:
    rows = []
    for key in order:
        lines = partitions[key]
        busiest = max(lines, key=lambda row: (row["bytes"], row["requests"], -row["bucket"]))
        sums = [sum(row[name] for row in lines) for name in ("bytes", "requests", "errors")]
        rows.append(
            (_partition(key), size(sums[0]), f"{sums[1]:,}", f"{sums[2]:,}", clock(grid.span, busiest["bucket"]))
        )
    return Table(
        caption="Partitions: bytes of batches, times that an exchange names it, errors, when it is busiest (UTC)",
        headings=("partition", "bytes", "requests", "errors", "busiest at"),
        rows=tuple(rows),
        numbers=(False, True, True, True, False),
    )
