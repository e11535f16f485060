"""Moments as users write them."""

import re
from datetime import UTC, datetime

from netdiag.errors import UsageError

_SECONDS = re.compile(r"(\d{1,11})(?:\.(\d{1,9}))?")
_FRACTION = re.compile(r"(?<=:\d\d)\.(\d{1,9})")


def nanoseconds(text: str) -> int:
    """A time of ISO 8601 (without a zone: UTC) or seconds since 1970, as nanoseconds since 1970."""
    seconds = _SECONDS.fullmatch(text.strip())
    if seconds is not None:
        return int(seconds[1]) * 1_000_000_000 + int((seconds[2] or "0").ljust(9, "0"))
    fraction = _FRACTION.search(text)
    whole = text if fraction is None else text[: fraction.start()] + text[fraction.end() :]
    try:
        moment = datetime.fromisoformat(whole.strip())
    except ValueError:
        raise UsageError(f"'{text}' is no time", hint="write 2026-01-02T03:04:05Z, or seconds since 1970") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    rest = 0 if fraction is None else int(fraction[1].ljust(9, "0"))
    return int(moment.timestamp()) * 1_000_000_000 + rest
