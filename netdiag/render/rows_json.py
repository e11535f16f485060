"""Rows as JSON, one object a line."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from netdiag.render.row_values import plain
from netdiag.traffic.column import Column

_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), check_circular=False)


def json_lines(columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """One line for each row, its values in the order of the columns; what is not there is null."""
    encode = _ENCODER.encode
    for row in rows:
        values = {column.name: plain(value, column.kind) for column, value in zip(columns, row, strict=True)}
        yield encode(values).replace("\x7f", "\\u007f") + "\n"
