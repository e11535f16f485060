"""Logs as lines that are safe to show."""

from netdiag.engine.container import LONGEST_LINE, log_lines


def test_escape_sequences_and_control_characters_are_gone() -> None:
    data = (
        b"\x1b[31mERROR\x1b[0m bad\x07\r\n\n\x1b]0;title\x07plain\x1b]8;;http://x\x1b\\link\ttab\n\xe2\x80\xaeflipped\n"
    )
    assert log_lines(data) == ("ERROR bad", "plainlink\ttab", "flipped")


def test_an_unfinished_sequence_does_not_hide_the_rest() -> None:
    assert log_lines(b"before\x1b[\nafter") == ("before[", "after")


def test_long_lines_are_cut_and_bad_bytes_replaced() -> None:
    (line,) = log_lines(b"\xff" + b"x" * 10_000)
    assert len(line) == LONGEST_LINE
    assert line.endswith("…")
