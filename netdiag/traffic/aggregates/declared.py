"""The schemas of the aggregates: names, columns, units, read from `aggregates.json`."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from netdiag.traffic.column import Table
from netdiag.traffic.tables import table_of


def names() -> tuple[str, ...]:
    """The names of the aggregates."""
    return tuple(_document())


@cache
def aggregate(name: str) -> Table:
    """The schema of the aggregate of that name; KeyError for any other."""
    return table_of(name, _document()[name])


@cache
def _document() -> dict[str, dict[str, Any]]:
    text = files("netdiag.traffic.aggregates").joinpath("aggregates.json").read_text(encoding="utf-8")
    document: dict[str, dict[str, Any]] = json.loads(text)
    return document
