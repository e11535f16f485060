"""Times, numbers and names as the page writes them."""

import pytest

from netdiag.render.analysis.figure import LONGEST_NAME, clock_text, number_text, short_name
from netdiag.traffic.analysis import Buckets
from tests.render.analysis_page.pages import EVIL, LONG

SECOND = 1_000_000
T0 = 1_700_000_000 * SECOND


@pytest.mark.parametrize(
    ("length", "count", "bucket", "text"),
    [
        (5 * SECOND, 100, 3, "22:13:35"),
        (20_000, 100, 3, "22:13:20.060"),
        (600 * SECOND, 144, 144, "2023-11-15 22:13:20"),
    ],
)
def test_a_time_of_day_has_a_date_where_there_are_several(length: int, count: int, bucket: int, text: str) -> None:
    assert clock_text(Buckets(first=T0, length=length, count=count), bucket) == text


def test_numbers_have_three_digits() -> None:
    assert [number_text(number) for number in (0, 0.12345, 5.678, 12.0, 1234.5)] == [
        "0",
        "0.123",
        "5.68",
        "12",
        "1,234",
    ]


def test_a_name_is_harmless_and_short() -> None:
    assert short_name("orders") == "orders"
    for name in (EVIL, LONG, "\u202e" * 10_000):
        shown = short_name(name)
        assert len(shown) <= LONGEST_NAME
        assert shown.isprintable()
    assert short_name("a" * 100 + "-17", 20) == "a" * 13 + "…" + "aaa-17"
