"""Nothing foreign moves the cursor, links lead where they should, and what an encoding lacks is spelled out."""

import re
from dataclasses import replace
from urllib.parse import unquote, urlsplit

import pytest

from netdiag.render.formats import text
from netdiag.render.report import Report
from netdiag.render.screen import ASCII, UNICODE, Links, Run, Screen, Style, encoded, linked, paint, width, wrap
from tests.render.reports import EVERYTHING, HOSTILE, RUNNING, hostile, loopback


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


LINKS = Links(host="box", folder="/srv/my stack", pages="https://example.org/rules/")
LINK = re.compile(r"\x1b\]8;;([!-~]+)\x1b\\((?:[^\x1b]|\x1b\[[0-9;]*m)+)\x1b\]8;;\x1b\\")
SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("compose.yml", "file://box/srv/my%20stack/compose.yml"),
        ("./a/../b.yml", "file://box/srv/my%20stack/b.yml"),
        ("/tmp/é#?%;.yml", "file://box/tmp/%C3%A9%23%3F%25%3B.yml"),
        ("/a\x1b\\b\x07\n.yml", "file://box/a%1B%5Cb%07%0A.yml"),
        ("/\udcff", "file://box/%FF"),
        ("C:\\x\\a b.yml", "file://box/C:/x/a%20b.yml"),
        ("<stdin>", ""),
    ],
)
def test_a_file(path: str, address: str) -> None:
    assert LINKS.to_file(path) == address


def test_without_a_folder_only_absolute_paths_lead_somewhere() -> None:
    nowhere = replace(LINKS, folder="")
    assert nowhere.to_file("a.yml") == ""
    assert nowhere.to_file("/a.yml") == "file://box/a.yml"


def test_the_name_of_the_machine_is_no_way_out() -> None:
    assert replace(LINKS, host="a/\x1b\\b").to_file("/c") == "file://a%2F%1B%5Cb/c"


def test_a_rule() -> None:
    assert LINKS.to_rule("image-gone") == "https://example.org/rules/image-gone.md"
    assert LINKS.to_rule("a\x1b\\/../b") == "https://example.org/rules/a%1B%5C%2F..%2Fb.md"
    assert LINKS.to_rule("unused-ignore") == ""
    assert replace(LINKS, pages=None).to_rule("image-gone") == ""


@pytest.mark.parametrize("address", ["", "http://a b", "http://a\x1b", "http://é", "http://" + "a" * 2000])
def test_an_address_that_no_terminal_should_get_is_dropped(address: str) -> None:
    assert linked("text", address) == "text"


def test_a_path_is_the_same_in_every_uri() -> None:
    assert unquote(encoded("a é/\udc80"), errors="surrogateescape") == "a é/\udc80"


def test_text_is_the_same_but_for_the_links() -> None:
    for columns in (60, 100):
        plain = text.render(EVERYTHING, Screen(colour=True, width=columns))
        drawn = text.render(EVERYTHING, Screen(colour=True, width=columns, links=LINKS))
        assert drawn != plain
        assert SGR.sub("", LINK.sub(r"\2", drawn)) == SGR.sub("", plain)


def test_text_leads_to_files_and_pages() -> None:
    drawn = text.render(Report(findings=(loopback("broker-1"),)), Screen(links=LINKS))
    rule = loopback("broker-1").rule
    links = {shown: address for address, shown in LINK.findall(drawn)}
    assert links[rule] == f"https://example.org/rules/{rule}.md"
    places = [shown for shown, address in links.items() if address.startswith("file:")]
    assert places
    assert all(re.fullmatch(r"compose\.yml:\d+:\d+", shown) for shown in places)


def test_places_of_which_the_same_is_true_are_links_too() -> None:
    twice = Report(findings=(loopback("broker-1"), loopback("broker-2")))
    drawn = text.render(twice, Screen(links=LINKS))
    likewise = drawn.partition("likewise:")[2].splitlines()[1]
    assert LINK.search(likewise)


def test_concise_is_the_same_but_for_the_links() -> None:
    drawn = text.render_concise(EVERYTHING, links=LINKS)
    assert LINK.sub(r"\2", drawn) == text.render_concise(EVERYTHING)
    assert LINK.search(drawn)


def test_a_container_has_no_address() -> None:
    shown = text.render_concise(Report(findings=(RUNNING,)), links=replace(LINKS, pages=None))
    assert "\x1b" not in shown


@pytest.mark.parametrize("foreign", HOSTILE)
def test_nothing_breaks_out(foreign: str) -> None:
    report = hostile(foreign)
    for drawn, plain in (
        (text.render_concise(report, links=LINKS), text.render_concise(report)),
        (text.render(report, Screen(links=LINKS)), text.render(report, Screen())),
    ):
        links = LINK.findall(drawn)
        assert links
        assert all(urlsplit(address).netloc in ("box", "example.org") for address, _ in links)
        assert LINK.sub(r"\2", drawn) == plain
        assert "\x1b" not in plain
