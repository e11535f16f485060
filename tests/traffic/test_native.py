"""What the seam makes of words of users."""

import pytest

from netdiag.errors import UsageError
from netdiag.traffic.native import parse_time

TIMES = [
    ("1767323045", 1767323045_000000000),
    ("1767323045.5", 1767323045_500000000),
    ("1767323045.000000001", 1767323045_000000001),
    ("2026-01-02T03:04:05Z", 1767323045_000000000),
    ("2026-01-02T03:04:05", 1767323045_000000000),
    ("2026-01-02 03:04:05", 1767323045_000000000),
    ("2026-01-02T04:04:05+01:00", 1767323045_000000000),
    ("2026-01-02T03:04:05.000000006Z", 1767323045_000000006),
    ("2026-01-02T03:04:05.25+00:00", 1767323045_250000000),
    ("2026-01-02", 1767312000_000000000),
]


@pytest.mark.parametrize(("text", "expected"), TIMES)
def test_a_time(text: str, expected: int) -> None:
    assert parse_time(text) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "12:00", "1767323045.1234567890", "-5"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time"):
        parse_time(text)
