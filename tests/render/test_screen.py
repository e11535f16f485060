"""Nothing foreign moves the cursor, and what an encoding cannot say is spelled out."""

import pytest

from netdiag.render.screen import ASCII, UNICODE, Run, Screen, Style, paint, width, wrap


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("broker-1", "broker-1"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x9b31m", "\\x9b31m"),
        ("a\x00b\x7f", "a\\x00b\\x7f"),
        ("line\nbreak\r\ttab", "line\\nbreak\\r\\ttab"),
        ("evil\u202egnp.exe", "evil\\u202egnp.exe"),
        ("\u2066isolate\u2069", "\\u2066isolate\\u2069"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\u2028", "\\u2028"),
        ("\ud800", "\\ud800"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("кафка 日本", "кафка 日本"),
    ],
)
def test_foreign_text_is_harmless(foreign: str, shown: str) -> None:
    assert Screen().visible(foreign) == shown
    assert Screen().run(foreign).text == shown


def test_what_the_encoding_lacks_is_spelled_out() -> None:
    screen = Screen(encoding="cp1252")
    assert screen.visible("é → 日") == "é \\u2192 \\u65e5"
    screen.visible("é日本").encode("cp1252")


@pytest.mark.parametrize(
    ("encoding", "glyphs"),
    [("utf-8", UNICODE), ("cp1252", ASCII), ("ascii", ASCII), ("no such encoding", ASCII), ("utf-16", UNICODE)],
)
def test_drawing_falls_back_to_ascii(encoding: str, glyphs: object) -> None:
    assert Screen(encoding=encoding).glyphs == glyphs


@pytest.mark.parametrize(("text", "columns"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("é", 1), ("ＡＢ", 4)])
def test_width_counts_terminal_columns(text: str, columns: int) -> None:
    assert width(text) == columns


def test_wrap_keeps_words_whole() -> None:
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("incomprehensibilities x", 5) == ["incomprehensibilities", "x"]
    assert wrap("日本 語", 5) == ["日本", "語"]
    assert wrap("", 5) == [""]


def test_paint_colours_only_where_there_is_colour() -> None:
    lines = [(Run("bad", Style.ERROR), Run(" plain  "))]
    assert paint(lines, Screen()) == "bad plain\n"
    assert paint(lines, Screen(colour=True)) == "\x1b[1;31mbad\x1b[0m plain\n"


def test_a_text_without_an_end_is_cut() -> None:
    assert Screen().visible("x" * 300_000) == "x" * 4000 + " (296000 more characters)"
    assert Screen().visible("\x1b" * 5000) == "\\x1b" * 4000 + " (1000 more characters)"
