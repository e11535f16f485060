"""The schemas of the aggregates: names, columns, units, read from `aggregates.json`, and of those that only a report
asks for, read from `over_time.json`."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from netdiag.traffic.column import Table
from netdiag.traffic.tables import table_of

_ANSWERS, _CHARTS = "aggregates.json", "over_time.json"


def names() -> tuple[str, ...]:
    """The names of the aggregates that every analysis answers with."""
    return tuple(_document(_ANSWERS))


def chart_names() -> tuple[str, ...]:
    """The names of the aggregates that are asked for a report only."""
    return tuple(_document(_CHARTS))


@cache
def aggregate(name: str) -> Table:
    """The schema of the aggregate of that name; KeyError for any other."""
    return table_of(name, (_document(_ANSWERS) | _document(_CHARTS))[name])


@cache
def _document(name: str) -> dict[str, dict[str, Any]]:
    text = files("netdiag.traffic.aggregates").joinpath(name).read_text(encoding="utf-8")
    document: dict[str, dict[str, Any]] = json.loads(text)
    return document
