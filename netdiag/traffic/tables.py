"""The tables that the engine fills: names, columns, units, read from `tables.json`.

docs/tables.md is generated from there; `rows` has the same columns for the type checker.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from netdiag.traffic.column import Column, Kind, Table

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


@cache
def table(name: str) -> Table:
    """The table of that name; KeyError for any other."""
    return table_of(name, _document()[name])


def table_of(name: str, entry: dict[str, Any]) -> Table:
    """A table as a JSON document describes it."""
    columns = tuple(
        Column(name=each["name"], kind=Kind(each["kind"]), doc=each["doc"], required=each["required"])
        for each in entry["columns"]
    )
    return Table(name=name, doc=entry["doc"], columns=columns)


@cache
def _document() -> dict[str, dict[str, Any]]:
    text = files("netdiag.traffic").joinpath("tables.json").read_text(encoding="utf-8")
    document: dict[str, dict[str, Any]] = json.loads(text)
    return document
