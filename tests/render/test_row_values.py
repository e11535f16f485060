"""Times keep their nanoseconds; nothing that steers a terminal is left."""

import pytest

from netdiag.render.exchanges import json_value, time_text, without_controls
from netdiag.traffic.column import Kind


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


def test_values_as_json_has_them() -> None:
    assert json_value(0, Kind.TIME) == "1970-01-01T00:00:00.000000000Z"
    assert json_value(1.23456789, Kind.FLOAT64) == 1.234568
    assert json_value(None, Kind.TIME) is None
    assert json_value(7, Kind.INT64) == 7


@pytest.mark.parametrize("sign", ["\x1b", "\x00", "\n", "\x7f", "\x9b", "‮", "⁦"])
def test_control_characters_are_spelled_out(sign: str) -> None:
    assert without_controls(f"a{sign}b") not in (f"a{sign}b", "ab")
    assert without_controls(f"a{sign}b").isprintable()
