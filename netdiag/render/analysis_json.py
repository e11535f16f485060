"""An analysis as JSON, version 1: names and types are a contract (`schema/analyze.v1.json`)."""

import json
from collections.abc import Mapping
from typing import Any

from netdiag.render.json_values import finding_value, sound
from netdiag.render.row_values import time_text
from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.analysis import Analysis, Answer
from netdiag.traffic.column import Kind

VERSION = 1


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
    return json.dumps(sound(value), indent=2) + "\n"


def _answer(name: str, answer: Answer) -> dict[str, Any]:
    columns = aggregate(name).columns
    times = {column.name for column in columns if column.kind is Kind.TIME}
    rows = [_row(row, times, tuple(column.name for column in columns)) for row in answer.rows]
    return {"total": answer.total, "rows": rows}


def _row(row: Mapping[str, Any], times: set[str], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _value(row[name], name in times) for name in names}


def _value(value: Any, is_time: bool) -> Any:
    if value is not None and is_time:
        return time_text(value)
    return list(value) if isinstance(value, tuple) else value
