"""Times keep their nanoseconds."""

import pytest

from netdiag.render.exchanges import time_text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000000000Z"),
        (1767323045_000000006, "2026-01-02T03:04:05.000000006Z"),
        (1767323045_999999999, "2026-01-02T03:04:05.999999999Z"),
        (10**21, "1000000000000.000000000"),
    ],
)
def test_a_time(nanoseconds: int, text: str) -> None:
    assert time_text(nanoseconds) == text
