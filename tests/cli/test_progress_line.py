"""Numbers as people read them; the line stays away from what is no terminal."""

import io
import sys

import pytest

from netdiag.cli.progress_line import ProgressLine, amount, can_draw, clock
from netdiag.cli.surface import Surface
from netdiag.io.packets.session import Progress


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (1_234_567, "1.2 MB"), (5 * 10**15, "5000.0 TB")],
)
def test_amounts(number: int, text: str) -> None:
    assert amount(number) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.04, "0.0 s"), (59.9, "59.9 s"), (61, "1:01"), (3661.5, "1:01:01")])
def test_clocks(seconds: float, text: str) -> None:
    assert clock(seconds) == text


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_drawn_in_its_place_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    line = ProgressLine(Surface())
    line.show(Progress(packets=1234, bytes=5000, dropped=2, seconds=3))
    line.say("b:eth0\x1b[2J went down")
    line.clear()
    clear = "\r\x1b[K"
    assert terminal.getvalue() == (
        f"{clear}3.0 s  1,234 packets  5.0 kB  2 lost{clear}netdiag: b:eth0\\x1b[2J went down\n"
    )


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_not_drawn_elsewhere(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    assert not can_draw()
    ProgressLine(Surface()).show(Progress())
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert not can_draw()
