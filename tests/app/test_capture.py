"""The words of a capture: places, times and sizes."""

import pytest

from netdiag.app.capture import Place, parse_place, parse_rotation, parse_seconds, size_text, time_text
from netdiag.errors import UsageError


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("host", Place(kind="host")),
        ("brokers", Place(kind="brokers")),
        ("container:a:b", Place(kind="container", name="a:b")),
        ("netns:blue", Place(kind="netns", name="blue")),
        ("pid:17", Place(kind="pid", name="17")),
    ],
)
def test_places(word: str, place: Place) -> None:
    assert parse_place(word) == place


@pytest.mark.parametrize("word", ["", "hosts", "container:", "container", "pid:0", "pid:x", "pid:99999999", "docker:x"])
def test_what_is_no_place(word: str) -> None:
    with pytest.raises(UsageError):
        parse_place(word)


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30), ("30s", 30), ("1.5min", 90), ("5m", 300), ("2h", 7200), (" 7 sec ", 7)]
)
def test_times(text: str, seconds: float) -> None:
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "5MB", "1e3", "5 days", "9" * 20, "nan"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError):
        parse_seconds(text)


@pytest.mark.parametrize(
    ("text", "rotation"),
    [
        ("100MB", (100_000_000, None)),
        ("100M", (100_000_000, None)),
        ("64MiB", (64 * 1024 * 1024, None)),
        ("1.5 GB", (1_500_000_000, None)),
        ("10m", (None, 600)),
        ("60s", (None, 60)),
    ],
)
def test_rotation(text: str, rotation: tuple[int | None, float | None]) -> None:
    assert parse_rotation(text) == rotation


@pytest.mark.parametrize("text", ["", "100", "0MB", "0.1kB", "MB", "5XB", "-5MB"])
def test_what_is_no_rotation(text: str) -> None:
    with pytest.raises(UsageError):
        parse_rotation(text)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (1_234_567, "1.2 MB"), (5 * 10**15, "5000.0 TB")],
)
def test_amounts(number: int, text: str) -> None:
    assert size_text(number) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.04, "0.0 s"), (59.9, "59.9 s"), (61, "1:01"), (3661.5, "1:01:01")])
def test_clocks(seconds: float, text: str) -> None:
    assert time_text(seconds) == text
