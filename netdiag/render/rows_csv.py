"""Rows as comma-separated values (RFC 4180): a header, then one line for each row."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from netdiag.render.row_values import plain, safe
from netdiag.traffic.column import Column, Kind

BETWEEN = ";"


def csv_header(columns: Sequence[Column]) -> str:
    """The line of names."""
    return _line([column.name for column in columns])


def csv_lines(columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """A line for each row: nothing for null, true and false, lists joined by a semicolon."""
    kinds = [column.kind for column in columns]
    for row in rows:
        yield _line([_text(value, kind) for value, kind in zip(row, kinds, strict=True)])


def _text(value: Any, kind: Kind) -> str:
    if value is None:
        return ""
    if kind is Kind.BOOL:
        return "true" if value else "false"
    if kind is Kind.STRINGS:
        return safe(BETWEEN.join(value))
    return safe(str(plain(value, kind)))


def _line(values: list[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(values)
    return out.getvalue()
