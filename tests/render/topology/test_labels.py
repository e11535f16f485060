"""Labels are harmless, fit into their place, and sort as people count."""

import pytest

from netdiag.render.html import CELL, SIZE, natural_key, shortened, text_width, visible
from tests.each import each


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("broker-1", "broker-1"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\u202eb\u200f", "a\\u202eb\\u200f"),
        ("a\nb\0", "a\\nb\\x00"),
        ("\ud800", "\\ud800"),
        ("\ufffe\uffff\ufdd0", "\\ufffe\\uffff\\ufdd0"),
        ("בית 家", "בית 家"),
    ],
)
def test_nothing_that_hides_or_reorders_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_very_long_text_is_cut() -> None:
    assert len(visible("x" * 100_000)) < 2100


@each("text", ["short", "a-name-that-does-not-fit-1", "x" * 300, "家" * 40, "<b>&\"'" * 30, "", "a\x00b" * 9])
@each("room", [0.0, 5.0, 8.0, 40.0, 100.0, 1000.0])
def test_a_label_fits_into_its_room(text: str, room: float) -> None:
    assert text_width(shortened(text, room), SIZE) <= room + 0.01


def test_a_label_keeps_its_beginning_and_its_end() -> None:
    assert shortened("team7-application-server-12", 16 * CELL * SIZE) == "team7-appl…er-12"


def test_numbers_in_names_count() -> None:
    names = ["broker-10", "broker-2", "broker-1", "a", "10", "9", "broker-02"]
    assert sorted(names, key=natural_key) == ["9", "10", "a", "broker-1", "broker-02", "broker-2", "broker-10"]
