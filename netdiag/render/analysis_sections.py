"""The tables of an analysis as text: which columns of which answers, and how their values are written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

_SECOND = 1_000_000_000
_UNITS = ("B", "kB", "MB", "GB", "TB")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and how the cell below it is written."""

    heading: str
    value: Callable[[Row], str]
    is_number: bool = False


def every(row: Row) -> bool:
    """Keep all rows."""
    return True


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the text: of which answer, with which columns; `keep` chooses among its rows."""

    title: str
    answer: str
    columns: tuple[Column, ...]
    keep: Callable[[Row], bool] = every


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


def _text(heading: str, name: str) -> Column:
    return Column(heading, lambda row: "-" if row[name] is None else str(row[name]))


def _count(heading: str, name: str) -> Column:
    return Column(heading, lambda row: "-" if row[name] is None else f"{row[name]:,}", True)


def _number(heading: str, name: str, digits: int = 1) -> Column:
    return Column(heading, lambda row: "-" if row[name] is None else f"{row[name]:,.{digits}f}", True)


def _size(heading: str, name: str) -> Column:
    return Column(heading, lambda row: size(row[name]), True)


def _time(heading: str, name: str) -> Column:
    return Column(heading, lambda row: duration(row[name]), True)


def _listed(heading: str, name: str) -> Column:
    return Column(heading, lambda row: ", ".join(row[name] or ()) or "-")


def _at(heading: str, name: str) -> Column:
    return Column(heading, lambda row: moment(row[name])[11:])


def _behind(row: Row) -> str:
    if row["lag_ms"] is not None:
        return duration(row["lag_ms"])
    return "-" if row["lag_at_least_ms"] is None else f"over {duration(row['lag_at_least_ms'])}"


SECTIONS = (
    Section(
        "clients",
        "rates",
        (
            _text("client.id", "value"),
            _count("requests", "requests"),
            _size("out", "request_bytes"),
            _size("in", "response_bytes"),
            _number("req/s", "requests_per_s"),
        ),
        lambda row: row["by"] == "client_id",
    ),
    Section(
        "brokers",
        "rates",
        (
            _text("listener", "value"),
            _count("requests", "requests"),
            _size("in", "request_bytes"),
            _size("out", "response_bytes"),
            _number("req/s", "requests_per_s"),
        ),
        lambda row: row["by"] == "broker",
    ),
    Section(
        "latency (service: less the waiting that was asked for)",
        "latency",
        (
            _text("api", "api_name"),
            _text("broker", "broker"),
            _count("requests", "requests"),
            _time("p50", "latency_p50_ms"),
            _time("p95", "latency_p95_ms"),
            _time("p99", "latency_p99_ms"),
            _time("max", "latency_max_ms"),
            _time("service p50", "service_p50_ms"),
            _time("p99", "service_p99_ms"),
            _count("unanswered", "unanswered"),
        ),
    ),
    Section(
        "errors",
        "errors",
        (
            _text("api", "api_name"),
            _text("error", "error"),
            _text("topic", "topic"),
            _text("broker", "broker"),
            _count("times", "times"),
            _text("client.id", "client_id"),
        ),
    ),
    Section(
        "throttled",
        "throttling",
        (
            _text("client.id", "client_id"),
            _text("api", "api_name"),
            _text("broker", "broker"),
            _count("times", "times"),
            _time("in all", "throttle_ms"),
            _time("longest", "longest_ms"),
        ),
    ),
    Section(
        "topics",
        "topics",
        (
            _text("topic", "topic"),
            _count("partitions", "partitions"),
            _count("produced", "produced_records"),
            _size("", "produced_bytes"),
            _count("fetched", "fetched_records"),
            _size("", "fetched_bytes"),
            _size("replicated", "replicated_bytes"),
            _count("errors", "errors"),
        ),
    ),
    Section(
        "producers",
        "produce",
        (
            _text("client.id", "client_id"),
            _text("topic", "topic"),
            _text("acks", "acks"),
            _text("codec", "codec"),
            _count("batches", "batches"),
            _count("records", "records"),
            _size("p50 of a batch", "batch_bytes_p50"),
            _number("records in it", "records_p50", 0),
        ),
    ),
    Section(
        "consumers",
        "consume",
        (
            _text("client.id", "client_id"),
            _text("group", "group"),
            _count("fetches", "fetches"),
            _count("empty", "empty"),
            _count("records", "records"),
            _size("bytes", "bytes"),
        ),
    ),
    Section(
        "lag",
        "lag",
        (
            _text("group", "group"),
            _text("topic", "topic"),
            _text("partition", "partition"),
            _count("committed", "committed_offset"),
            _count("end", "end_offset"),
            _count("behind", "lag_records"),
            Column("by", _behind, True),
        ),
    ),
    Section(
        "rebalances",
        "rebalances",
        (
            _at("time", "time"),
            _text("group", "group"),
            _count("generation", "generation"),
            _text("trigger", "trigger"),
            _text("by", "trigger_client_id"),
            Column("members", lambda row: str(len(row["members"])), True),
            _time("took", "duration_ms"),
            _text("state", "state"),
        ),
    ),
    Section(
        "transactions",
        "transactions",
        (
            _text("transactional.id", "transactional_id"),
            _count("begun", "begun"),
            _count("committed", "committed"),
            _count("aborted", "aborted"),
            _count("failed", "failed"),
            _time("p50", "duration_p50_ms"),
            _time("max", "duration_max_ms"),
        ),
    ),
    Section(
        "addresses that clients were told",
        "told",
        (
            _count("node", "node_id"),
            Column("endpoint", lambda row: f"{row['host']}:{row['port']}"),
            _count("times", "times"),
            _count("clients", "clients"),
            _listed("by", "brokers"),
        ),
    ),
    Section(
        "TCP in trouble",
        "tcp_health",
        (
            _text("client", "client"),
            _text("broker", "broker"),
            _count("packets", "packets"),
            _count("sent again", "retransmissions"),
            _count("zero windows", "zero_windows"),
            _count("resets", "resets"),
            _size("lost", "lost_bytes"),
            _time("handshake p95", "handshake_p95_ms"),
        ),
        lambda row: bool(row["retransmissions"] or row["zero_windows"] or row["resets"] or row["lost_bytes"]),
    ),
)
