"""The values of a row as text that machines read again: times, lists, control characters."""

import re
from datetime import UTC, datetime
from typing import Any

from netdiag.traffic.column import Kind

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def time_text(nanoseconds: int) -> str:
    """RFC 3339 in UTC with nine digits: `2026-01-02T03:04:05.000000006Z`; the plain number where no year holds it."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"
    except (OverflowError, ValueError, OSError):
        return f"{seconds}.{rest:09}"


def plain(value: Any, kind: Kind) -> Any:
    """A value as JSON has it."""
    if value is None or kind is not Kind.TIME:
        return round(value, 6) if isinstance(value, float) else value
    return time_text(value)


def safe(text: str) -> str:
    """Text without control characters and direction overrides; they are spelled out."""
    return _UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)
