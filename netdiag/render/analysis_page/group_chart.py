"""The chart of groups: when each rebalanced, how long that took, and why."""

from collections.abc import Mapping, Sequence
from typing import Any

from netdiag.render.analysis_page.canvas import SERIES_COLOURS, Grid
from netdiag.render.analysis_page.figure import Figure, Numbers, Series, Table, rows_of
from netdiag.render.analysis_page.wording import plain
from netdiag.render.analysis_sections import duration, moment
from netdiag.traffic.analysis import Analysis

GROUPS, BARS, TOLD = 12, 600, 200
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
        drawn=rows_of(grid, labels, bars),
        table=_rebalance_table(answer.rows, answer.total),
        columns=grid.span.count,
        legend=tuple((label, colour) for label, colour in _WHY if colour in used),
        has_rows=True,
    )


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
