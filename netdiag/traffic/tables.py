"""The tables that the engine fills and the aggregates made of them: columns, types and units, read from JSON."""

import json
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from netdiag.values import dataclass


class Kind(StrEnum):
    """The type of a column. A TIME is a whole number of nanoseconds since 1970 UTC in a row of ours."""

    BOOL = "bool"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT64 = "float64"
    STRING = "string"
    STRINGS = "strings"
    TIME = "time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column; `doc` says what it holds, with its unit. Every column that is not `required` may be null."""

    name: str
    kind: Kind
    doc: str
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; a row of it is a tuple in the order of the columns."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns in their order."""
        return tuple(column.name for column in self.columns)


NAMES = (
    "exchanges",
    "partitions",
    "batches",
    "group_events",
    "endpoints",
    "leaders",
    "connections",
    "names",
    "losses",
)
# What these hold of one exchange becomes ready at once.
TOGETHER = ("exchanges", "partitions", "batches")
# What the engine fills only where keys and values may be stored.
PAYLOAD_NAMES = ("records",)
# What exchanges are summed up to where they are found.
PARTIAL_NAMES = ("latencies",)
# What there is before the engine.
RAW_NAMES = ("packets", "segments")
# What files of brokers hold.
LOG_NAMES = ("log_segments", "log_batches", "log_records", "log_problems")
# What the records of internal topics say.
STORED_NAMES = ("stored_records", "committed_offsets")


_TABLES, _ANSWERS, _CHARTS = "tables.json", "aggregates/aggregates.json", "aggregates/over_time.json"
_STORED = "aggregates/stored.json"


@cache
def table(name: str) -> Table:
    """The table of that name; KeyError for any other."""
    return table_of(name, _described(_TABLES)[name])


@cache
def aggregate(name: str) -> Table:
    """The schema of the aggregate of that name; KeyError for any other."""
    return table_of(name, (_described(_ANSWERS) | _described(_CHARTS) | _described(_STORED))[name])


def aggregate_names() -> tuple[str, ...]:
    """The names of the aggregates that every analysis answers with."""
    return tuple(_described(_ANSWERS))


def chart_names() -> tuple[str, ...]:
    """The names of the aggregates that are asked for a report only."""
    return tuple(_described(_CHARTS))


def stored_aggregate_names() -> tuple[str, ...]:
    """The names of the aggregates that join a capture with data directories."""
    return tuple(_described(_STORED))


def table_of(name: str, entry: dict[str, Any]) -> Table:
    """A table as a JSON document describes it."""
    columns = tuple(
        Column(name=each["name"], kind=Kind(each["kind"]), doc=each["doc"], required=each["required"])
        for each in entry["columns"]
    )
    return Table(name=name, doc=entry["doc"], columns=columns)


@cache
def _described(file: str) -> dict[str, dict[str, Any]]:
    text = files("netdiag.traffic").joinpath(file).read_text(encoding="utf-8")
    document: dict[str, dict[str, Any]] = json.loads(text)
    return document
