"""The rows of a table for programs, as they become ready."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import assert_never

from netdiag.cli.console import write_bytes, write_text
from netdiag.render.exchanges import csv_header
from netdiag.traffic.native import Batch, arrow_stream
from netdiag.traffic.tables import Column


class TableFormat(StrEnum):
    """How the rows of a table are written."""

    JSON = "json"
    CSV = "csv"
    ARROW = "arrow"


def named_columns(text: str | None) -> list[str] | None:
    """The names in a list with commas; None where all columns are wanted."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def write_rows(form: TableFormat, table: str, chosen: Sequence[Column], batches: Iterable[Batch]) -> int:
    """Write every row; how many there were."""
    count = 0
    stream = arrow_stream(table, [column.name for column in chosen]) if form is TableFormat.ARROW else None
    if form is TableFormat.CSV:
        write_text(csv_header(chosen))
    for batch in batches:
        count += len(batch)
        match form:
            case TableFormat.CSV:
                write_bytes(batch.to_csv())
            case TableFormat.JSON:
                write_bytes(batch.to_json())
            case TableFormat.ARROW:
                if stream is not None:
                    write_bytes(stream.encode(batch))
            case _:
                assert_never(form)
    if stream is not None:
        write_bytes(stream.end())
    return count
