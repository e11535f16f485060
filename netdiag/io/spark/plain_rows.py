"""Rows of Arrow as plain values: times as nanoseconds, lists as tuples."""

from typing import Any

import pyarrow as pa


def plain_rows(table: pa.Table) -> tuple[dict[str, Any], ...]:
    """Every row as a dictionary."""
    return tuple({name: _plain(value) for name, value in row.items()} for row in table.to_pylist())


def _plain(value: Any) -> Any:
    if hasattr(value, "microsecond"):
        return (int(value.replace(microsecond=0).timestamp()) * 1_000_000 + value.microsecond) * 1000
    return tuple(value) if isinstance(value, list) else value
