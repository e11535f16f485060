"""A finding as text: its parts, the source with carets, and findings that say the same."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from netdiag.findings import ContainerLocation, FileLocation, Finding, Location, Related, Severity, TopologyLocation
from netdiag.render.findings.finding_text import (
    Mark,
    SourceLines,
    clickable_place,
    finding_lines,
    grouped,
    snippet,
    split_lines,
)
from netdiag.render.screen import Screen, Style, paint, width
from tests.render.literals import place
from tests.render.reports import COMPOSE, loopback


def shown(*, related: int, columns: int = 100) -> str:
    finding = loopback("broker-1")
    more = tuple(Related(location=place(COMPOSE, "apache/kafka:3.9.1"), message=f"no. {n}") for n in range(related))
    screen = Screen(width=columns)
    lines = SourceLines({"compose.yml": COMPOSE})
    return paint(finding_lines(replace(finding, related=more), lines, screen), screen)


def test_the_first_line_can_be_clicked() -> None:
    assert shown(related=0).startswith(
        "compose.yml:6:35: error: INTERNAL of broker-1 is bound to 127.0.0.1: the other brokers cannot reach it "
        "[listener-bound-to-loopback]\n"
    )


def test_many_related_places_are_counted() -> None:
    text = shown(related=9)
    assert "no. 5" in text
    assert "no. 6" not in text
    assert "also: 3 more places" in text


def test_long_sentences_are_wrapped_below_their_title() -> None:
    lines = shown(related=0, columns=50).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  why: "))
    assert lines[first + 1].startswith("       ")
    assert all(len(line) <= 50 for line in lines[first:])


def test_places() -> None:
    assert clickable_place(place(COMPOSE, "127.0.0.1")) == "compose.yml:6:35"
    assert clickable_place(ContainerLocation(container="k")) == "k"
    assert clickable_place(ContainerLocation(container="k", part="KAFKA_LISTENERS")) == "k (KAFKA_LISTENERS)"


def drawn(text: str, *marks: Mark, columns: int = 60, encoding: str = "utf-8") -> list[str]:
    screen = Screen(width=columns, encoding=encoding)
    return paint(snippet(text.split("\n"), marks, screen, Style.ERROR), screen).splitlines()


def at(line: int, start: int, end: int, label: str = "", *, primary: bool = True) -> Mark:
    return Mark(line=line, column=start, end_line=line, end_column=end, label=label, primary=primary)


def test_one_mark() -> None:
    assert drawn("a\nkey: value", at(2, 6, 11, "here")) == [
        "  │",
        "2 │ key: value",
        "  │      ^^^^^ here",
    ]


def test_marks_of_one_line_share_carets_when_they_can() -> None:
    marks = (at(1, 1, 4), at(1, 6, 11, "sent there", primary=False))
    assert drawn("key: value", *marks)[1:] == ["1 │ key: value", "  │ ^^^  ----- sent there"]


def test_marks_that_would_collide_get_lines_of_their_own() -> None:
    marks = (at(1, 6, 11, "second", primary=False), at(1, 1, 8, "first"))
    assert drawn("key: value", *marks)[1:] == [
        "1 │ key: value",
        "  │ ^^^^^^^ first",
        "  │      ----- second",
    ]


def test_near_lines_are_joined_and_far_ones_apart() -> None:
    text = "\n".join(f"line {n}" for n in range(1, 30))
    assert drawn(text, at(1, 1, 2), at(4, 1, 2, primary=False), at(20, 1, 2, primary=False)) == [
        "   │",
        " 1 │ line 1",
        "   │ ^",
        " 2 │ line 2",
        " 3 │ line 3",
        " 4 │ line 4",
        "   │ -",
        "   …",
        "20 │ line 20",
        "   │ -",
    ]


def test_wide_characters_tabs_and_controls_move_the_carets() -> None:
    assert drawn("日本: x", at(1, 5, 6))[1:] == ["1 │ 日本: x", "  │       ^"]
    assert drawn("\tx", at(1, 2, 3))[1:] == ["1 │     x", "  │     ^"]
    assert drawn("\x1bx", at(1, 2, 3))[1:] == ["1 │ \\x1bx", "  │     ^"]
    assert drawn("\x1bx", at(1, 1, 2))[1:] == ["1 │ \\x1bx", "  │ ^^^^"]


def test_a_console_without_the_characters_gets_ascii() -> None:
    assert drawn("日: x", at(1, 4, 5), encoding="cp1252") == ["  |", "1 | \\u65e5: x", "  |         ^"]


def test_an_empty_span_and_one_after_the_line_still_show() -> None:
    assert drawn("key:", at(1, 5, 5))[1:] == ["1 │ key:", "  │     ^"]
    assert drawn("", at(1, 1, 1))[1:] == ["1 │", "  │ ^"]


@pytest.mark.parametrize("position", [0, 30, 100, 250, 398, 499])
def test_a_long_line_is_cut_around_its_mark(position: int) -> None:
    line = "".join(chr(97 + i % 26) for i in range(500))
    _, source, carets = drawn(line, at(1, position + 1, position + 6), columns=60)
    assert width(source) <= 60
    start = carets.index("^")
    marked = source[start : start + carets.count("^")]
    assert line[position : position + 5].startswith(marked)
    assert source.startswith("1 │ …") == (position > 50)
    assert source.endswith("…") == (position < 450)


def test_a_mark_wider_than_the_screen_is_cut_too() -> None:
    lines = drawn("x" * 500, at(1, 10, 490, "all of it"), columns=60)
    assert all(width(line) <= 60 for line in lines)
    assert "^" * 20 in lines[2]


def test_two_marks_too_far_apart_for_one_cut_get_a_cut_each() -> None:
    line = "a" * 300 + "b" * 5 + "c" * 300
    lines = drawn(line, at(1, 1, 4), at(1, 301, 306, "far", primary=False), columns=60)
    assert [line for line in lines if line.startswith("1 │")] == [lines[1], lines[3]]
    assert "bbbbb" in lines[3]
    assert lines[4][lines[3].index("bbbbb") :] == "----- far"


def test_wide_characters_are_not_cut_in_half() -> None:
    for columns in range(40, 60):
        lines = drawn("日" * 200, at(1, 100, 102), columns=columns)
        assert all(width(line) <= columns for line in lines)
        start = lines[2].index("^")
        before = lines[1]
        position, shown = 0, ""
        for character in before:
            if start <= position < start + 4:
                shown += character
            position += width(character)
        assert shown == "日日"


def test_a_long_label_goes_below_and_stays_on_the_screen() -> None:
    lines = drawn("key: " + "v" * 40, at(1, 6, 46, "many words about this value"), columns=60)
    assert all(width(line) <= 60 for line in lines)
    assert "many words about this value" in lines[3]


def test_a_span_of_several_lines_is_marked_on_each() -> None:
    mark = Mark(line=1, column=6, end_line=2, end_column=5, label="both")
    assert drawn("key: |\n  ab\n", mark) == ["  │", "1 │ key: |", "  │      -", "2 │   ab", "  │   -- both"]


def test_places_outside_the_file_are_left_out() -> None:
    assert drawn("one", at(7, 1, 2)) == []


def test_secrets_are_hidden_and_carets_keep_their_place() -> None:
    lines = drawn("{A_PASSWORD: hunter2}", at(1, 2, 12))
    assert lines[1:] == ["1 │ {A_PASSWORD: [hidden]", "  │  ^^^^^^^^^^"]
    assert "hunter2" not in "".join(drawn("A_PASSWORD: hunter2", at(1, 13, 20)))


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\rc\n", ["a", "b", "c", ""]),
        (b"\xef\xbb\xbfa", ["a"]),
        ("a\x85b\u2028c\x0cd".encode(), ["a\x85b\u2028c\x0cd"]),
        (b"\xff", ["\ufffd"]),
        (b"", [""]),
    ],
)
def test_lines_are_counted_as_the_loader_counts_them(data: bytes, lines: Sequence[str]) -> None:
    assert split_lines(data) == lines


def finding(location: Location, message: str, service: str | None = None) -> Finding:
    return Finding(rule="r", severity=Severity.ERROR, message=message, location=location, service=service)


def alike_at(place: str, device: str = "", part: str = "") -> TopologyLocation:
    return TopologyLocation(place=place, device=device, part=part)


def line(number: int, path: str = "a.yml") -> FileLocation:
    return FileLocation(path=path, line=number, column=1, end_line=number, end_column=2, start=0, end=1)


def test_names_and_numbers_make_no_difference() -> None:
    found = [
        finding(alike_at("host", "veth1"), "veth1 of host is down"),
        finding(alike_at("other place", "vethx"), "vethx of other place is down"),
        finding(alike_at("host", part="172.18.0.2:9092"), "172.18.0.2:9092 is dead"),
        finding(alike_at("host", part="172.18.0.3:9093"), "172.18.0.3:9093 is dead"),
    ]
    assert [len(group) for group in grouped(found)] == [2, 2]
    assert [len(group) for group in grouped(found, full=True)] == [1, 1, 1, 1]


def test_services_of_one_file_go_together_and_files_do_not() -> None:
    found = [
        finding(line(1), "broker-1 binds 9091", "broker-1"),
        finding(line(9), "broker-2 binds 9092", "broker-2"),
        finding(line(1, "b.yml"), "broker-1 binds 9091", "broker-1"),
        finding(line(2), "broker-1 is odd", "broker-1"),
    ]
    assert [[each.location for each in group] for group in grouped(found)] == [
        [line(1), line(9)],
        [line(1, "b.yml")],
        [line(2)],
    ]
