"""An analysis as text and as JSON, version 1: names and types of the JSON are a contract (`schema/analyze.v1.json`).

The text has findings first, then what was looked at and how much of it was understood, then tables: which columns of
which answers, and how their values are written.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from netdiag.render.exchanges import time_text
from netdiag.render.findings.finding_text import SourceLines, finding_lines
from netdiag.render.json_values import finding_value, indented
from netdiag.render.screen import Line, Run, Screen, Style, paint, width
from netdiag.traffic.analysis import Analysis, Answer
from netdiag.traffic.tables import Kind, aggregate

_SECOND = 1_000_000_000
_UNITS = ("B", "kB", "MB", "GB", "TB")

VERSION = 1

Row = Mapping[str, Any]

TOP = 10

# A cell that is longer is cut; the JSON document has it whole.
_WIDEST = 44


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and how the cell below it is written."""

    heading: str
    value: Callable[[Row], str]
    is_number: bool = False


def all_rows(row: Row) -> bool:
    """Keep all rows."""
    return True


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the text: of which answer, with which columns; `keep` chooses among its rows."""

    title: str
    answer: str
    columns: tuple[Column, ...]
    keep: Callable[[Row], bool] = all_rows


def analysis_text(analysis: Analysis, screen: Screen, *, top: int = TOP) -> str:
    """The text; of each table the first `top` rows, and how many more there are."""
    lines: list[Line] = []
    for finding in analysis.findings:
        lines += [*finding_lines(finding, SourceLines({}), screen), ()]
    lines += _head(analysis, screen)
    for section in (*SECTIONS, *STORED_SECTIONS):
        lines += _table(section, analysis, screen, top)
    return paint(lines, screen)


def analysis_json(analysis: Analysis) -> str:
    """The JSON text, ASCII only, ending with a line feed; equal analyses give equal bytes."""
    seen = analysis.seen
    value = {
        "version": VERSION,
        "files": list(seen.files),
        "bytes": seen.bytes,
        "packets": seen.packets,
        "first_time": None if seen.first is None else time_text(seen.first),
        "last_time": None if seen.last is None else time_text(seen.last),
        "connections": analysis.connections,
        "protocols": dict(sorted(analysis.protocols.items())),
        "findings": [finding_value(finding) for finding in analysis.findings],
        "answers": {name: _answer(name, answer) for name, answer in analysis.answers.items()},
    }
    return indented(value) + "\n"


def exchanges_by_decoding(analysis: Analysis) -> dict[str, int]:
    """How many exchanges were decoded in full, in part, or not at all, by the word for it."""
    kinds: dict[str, int] = {}
    for row in analysis.rows("coverage"):
        kinds[row["decoded"]] = kinds.get(row["decoded"], 0) + int(row["exchanges"])
    return kinds


def size(count: float | None) -> str:
    """Bytes in a unit that leaves three digits."""
    if count is None:
        return "-"
    value = float(count)
    for unit in _UNITS:
        if abs(value) < 1000 or unit == _UNITS[-1]:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return ""


def duration(ms: float | None) -> str:
    """Milliseconds in a unit that people read."""
    if ms is None:
        return "-"
    if ms < 10:
        return f"{ms:.2f} ms"
    if ms < 1000:
        return f"{ms:.0f} ms"
    seconds = ms / 1000
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def moment(time: int) -> str:
    """A time to the millisecond."""
    whole = datetime.fromtimestamp(time // _SECOND, UTC)
    return f"{whole:%Y-%m-%d %H:%M:%S}.{time % _SECOND // 1_000_000:03d}"


def _text_column(heading: str, name: str) -> Column:
    return Column(heading, lambda row: "-" if row[name] is None else str(row[name]))


def _count_column(heading: str, name: str) -> Column:
    return Column(heading, lambda row: "-" if row[name] is None else f"{row[name]:,}", True)


def _number_column(heading: str, name: str, digits: int = 1) -> Column:
    return Column(heading, lambda row: "-" if row[name] is None else f"{row[name]:,.{digits}f}", True)


def _size_column(heading: str, name: str) -> Column:
    return Column(heading, lambda row: size(row[name]), True)


def _duration_column(heading: str, name: str) -> Column:
    return Column(heading, lambda row: duration(row[name]), True)


def _list_column(heading: str, name: str) -> Column:
    return Column(heading, lambda row: ", ".join(row[name] or ()) or "-")


def _time_column(heading: str, name: str) -> Column:
    return Column(heading, lambda row: moment(row[name])[11:])


def _lag_text(row: Row) -> str:
    if row["lag_ms"] is not None:
        return duration(row["lag_ms"])
    return "-" if row["lag_at_least_ms"] is None else f"over {duration(row['lag_at_least_ms'])}"


SECTIONS = (
    Section(
        "clients",
        "rates",
        (
            _text_column("client.id", "value"),
            _count_column("requests", "requests"),
            _size_column("out", "request_bytes"),
            _size_column("in", "response_bytes"),
            _number_column("req/s", "requests_per_s"),
        ),
        lambda row: row["by"] == "client_id",
    ),
    Section(
        "brokers",
        "rates",
        (
            _text_column("listener", "value"),
            _count_column("requests", "requests"),
            _size_column("in", "request_bytes"),
            _size_column("out", "response_bytes"),
            _number_column("req/s", "requests_per_s"),
        ),
        lambda row: row["by"] == "broker",
    ),
    Section(
        "latency (service: without waits that the client requested)",
        "latency",
        (
            _text_column("api", "api_name"),
            _text_column("broker", "broker"),
            _count_column("requests", "requests"),
            _duration_column("p50", "latency_p50_ms"),
            _duration_column("p95", "latency_p95_ms"),
            _duration_column("p99", "latency_p99_ms"),
            _duration_column("max", "latency_max_ms"),
            _duration_column("service p50", "service_p50_ms"),
            _duration_column("p99", "service_p99_ms"),
            _count_column("unanswered", "unanswered"),
        ),
    ),
    Section(
        "errors",
        "errors",
        (
            _text_column("api", "api_name"),
            _text_column("error", "error"),
            _text_column("topic", "topic"),
            _text_column("broker", "broker"),
            _count_column("times", "times"),
            _text_column("client.id", "client_id"),
        ),
    ),
    Section(
        "throttled",
        "throttling",
        (
            _text_column("client.id", "client_id"),
            _text_column("api", "api_name"),
            _text_column("broker", "broker"),
            _count_column("times", "times"),
            _duration_column("in all", "throttle_ms"),
            _duration_column("longest", "longest_ms"),
        ),
    ),
    Section(
        "topics",
        "topics",
        (
            _text_column("topic", "topic"),
            _count_column("partitions", "partitions"),
            _count_column("produced", "produced_records"),
            _size_column("", "produced_bytes"),
            _count_column("fetched", "fetched_records"),
            _size_column("", "fetched_bytes"),
            _size_column("replicated", "replicated_bytes"),
            _count_column("errors", "errors"),
        ),
    ),
    Section(
        "producers",
        "produce",
        (
            _text_column("client.id", "client_id"),
            _text_column("topic", "topic"),
            _text_column("acks", "acks"),
            _text_column("codec", "codec"),
            _count_column("batches", "batches"),
            _count_column("records", "records"),
            _size_column("p50 of a batch", "batch_bytes_p50"),
            _number_column("records in it", "records_p50", 0),
        ),
    ),
    Section(
        "consumers",
        "consume",
        (
            _text_column("client.id", "client_id"),
            _text_column("group", "group"),
            _count_column("fetches", "fetches"),
            _count_column("empty", "empty"),
            _count_column("records", "records"),
            _size_column("bytes", "bytes"),
        ),
    ),
    Section(
        "lag",
        "lag",
        (
            _text_column("group", "group"),
            _text_column("topic", "topic"),
            _text_column("partition", "partition"),
            _count_column("committed", "committed_offset"),
            _count_column("end", "end_offset"),
            _count_column("behind", "lag_records"),
            Column("by", _lag_text, True),
        ),
    ),
    Section(
        "rebalances",
        "rebalances",
        (
            _time_column("time", "time"),
            _text_column("group", "group"),
            _count_column("generation", "generation"),
            _text_column("trigger", "trigger"),
            _text_column("by", "trigger_client_id"),
            Column("members", lambda row: str(len(row["members"])), True),
            _duration_column("took", "duration_ms"),
            _text_column("state", "state"),
        ),
    ),
    Section(
        "transactions",
        "transactions",
        (
            _text_column("transactional.id", "transactional_id"),
            _count_column("begun", "begun"),
            _count_column("committed", "committed"),
            _count_column("aborted", "aborted"),
            _count_column("failed", "failed"),
            _duration_column("p50", "duration_p50_ms"),
            _duration_column("max", "duration_max_ms"),
        ),
    ),
    Section(
        "broker addresses that clients got",
        "told",
        (
            _count_column("node", "node_id"),
            Column("endpoint", lambda row: f"{row['host']}:{row['port']}"),
            _count_column("times", "times"),
            _count_column("clients", "clients"),
            _list_column("by", "brokers"),
        ),
    ),
    Section(
        "TCP in trouble",
        "tcp_health",
        (
            _text_column("client", "client"),
            _text_column("broker", "broker"),
            _count_column("packets", "packets"),
            _count_column("sent again", "retransmissions"),
            _count_column("zero windows", "zero_windows"),
            _count_column("resets", "resets"),
            _size_column("lost", "lost_bytes"),
            _duration_column("handshake p95", "handshake_p95_ms"),
        ),
        lambda row: bool(row["retransmissions"] or row["zero_windows"] or row["resets"] or row["lost_bytes"]),
    ),
)

# Where captures are joined with data directories.
STORED_SECTIONS = (
    Section(
        "batches of clients in the logs",
        "stored_batches",
        (
            _text_column("topic", "topic"),
            _count_column("partition", "partition"),
            _count_column("batches", "batches"),
            _count_column("in the log", "in_log"),
            _count_column("damaged", "damaged"),
            _count_column("refused", "refused"),
            _count_column("elsewhere", "elsewhere"),
            _count_column("unanswered", "unanswered"),
            _count_column("deleted", "deleted"),
            _count_column("compacted", "compacted"),
            _count_column("missing", "missing"),
            _count_column("unknown", "unknown"),
            _count_column("log from", "log_start_offset"),
            _count_column("to", "log_end_offset"),
        ),
    ),
    Section(
        "committed offsets and the logs",
        "stored_commits",
        (
            _text_column("group", "group"),
            _text_column("topic", "topic"),
            _count_column("partition", "partition"),
            _count_column("in the capture", "captured_offset"),
            _count_column("on disk", "stored_offset"),
            _count_column("log from", "log_start_offset"),
            _count_column("to", "log_end_offset"),
            _text_column("is", "state"),
            _count_column("records left", "records_left"),
        ),
    ),
)

# What text and page are made of; the JSON document has all answers.
SHOWN = frozenset({"coverage", "loss_kinds", *(section.answer for section in SECTIONS)})


def _head(analysis: Analysis, screen: Screen) -> list[Line]:
    seen = analysis.seen
    files = f"{len(seen.files)} captures" if len(seen.files) != 1 else seen.files[0]
    spoken = ", ".join(f"{count} {name}" for name, count in sorted(analysis.protocols.items(), key=_most))
    rows = (
        ("captures", f"{files}, {size(seen.bytes)}, {seen.packets:,} packets"),
        ("span", _span(seen.first, seen.last)),
        ("connections", f"{analysis.connections:,}" + (f" ({spoken})" if spoken else "")),
        ("exchanges", _decoded(analysis)),
        ("not decoded", _lost(analysis.answers.get("loss_kinds", Answer()))),
    )
    return [(Run(f"{name:<12}", Style.BOLD), screen.run(text)) for name, text in rows if text]


def _most(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _span(first: int | None, last: int | None) -> str:
    if first is None or last is None:
        return ""
    return f"{moment(first)} to {moment(last)} UTC, {duration((last - first) / 1e6)}"


def _decoded(analysis: Analysis) -> str:
    kinds = exchanges_by_decoding(analysis)
    total = sum(kinds.values())
    if not total:
        return "none"
    rest = ", ".join(f"{count:,} {name}" for name, count in sorted(kinds.items(), key=_most) if name != "full")
    return f"{total:,}, {100 * kinds.get('full', 0) / total:.1f} % decoded in full" + (f" ({rest})" if rest else "")


def _lost(losses: Answer) -> str:
    if not losses.rows:
        return "nothing"
    return ", ".join(f"{row['kind']} {size(row['bytes'])} ({row['times']:,} times)" for row in losses.rows)


def _table(section: Section, analysis: Analysis, screen: Screen, top: int) -> list[Line]:
    answer = analysis.answers.get(section.answer, Answer())
    kept = [row for row in answer.rows if section.keep(row)]
    if not kept:
        return []
    shown = kept[:top]
    cells = [[_cut(screen.visible(column.value(row)), screen) for column in section.columns] for row in shown]
    widths = [
        max(width(column.heading), *(width(row[place]) for row in cells))
        for place, column in enumerate(section.columns)
    ]
    headings = [column.heading for column in section.columns]
    lines: list[Line] = [(), (Run(section.title, Style.BOLD),)]
    lines.append((Run("  " + _joined(headings, widths, section.columns), Style.DIM),))
    lines += [(Run("  " + _joined(row, widths, section.columns)),) for row in cells]
    more = _more(len(kept) - len(shown), answer.total - len(answer.rows), is_chosen=section.keep is not all_rows)
    if more:
        lines.append((Run(f"  {screen.glyphs.ellipsis} and {more}", Style.DIM),))
    return lines


def _more(left_out: int, cut: int, *, is_chosen: bool) -> str:
    """How many rows are not shown: so many are left out here, others were cut from the answer.

    Where a condition chooses rows, nobody knows how many of those that were cut it would have kept.
    """
    if not is_chosen:
        return f"{left_out + cut:,} more" if left_out + cut > 0 else ""
    if cut > 0:
        return f"at least {left_out:,} more" if left_out else "perhaps others with less"
    return f"{left_out:,} more" if left_out else ""


def _joined(cells: Sequence[str], widths: Sequence[int], columns: Sequence[Column]) -> str:
    parts = []
    for cell, columns_wide, column in zip(cells, widths, columns, strict=True):
        blank = " " * (columns_wide - width(cell))
        parts.append(blank + cell if column.is_number else cell + blank)
    return "  ".join(parts)


def _cut(text: str, screen: Screen) -> str:
    if width(text) <= _WIDEST:
        return text
    return text[: _WIDEST - len(screen.glyphs.ellipsis)] + screen.glyphs.ellipsis


def _answer(name: str, answer: Answer) -> dict[str, Any]:
    columns = aggregate(name).columns
    times = {column.name for column in columns if column.kind is Kind.TIME}
    rows = [_row_value(row, times, tuple(column.name for column in columns)) for row in answer.rows]
    return {"total": answer.total, "rows": rows}


def _row_value(row: Mapping[str, Any], times: set[str], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _value(row[name], name in times) for name in names}


def _value(value: Any, is_time: bool) -> Any:
    if value is not None and is_time:
        return time_text(value)
    return list(value) if isinstance(value, tuple) else value
