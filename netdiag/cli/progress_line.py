"""The line on a terminal that tells how a capture goes, drawn again in its place."""

import os
import sys
from typing import TYPE_CHECKING

from netdiag.cli.surface import Surface
from netdiag.cli.terminal import draw, say

if TYPE_CHECKING:
    from netdiag.io.packets.session import Progress

_CLEAR = "\r\x1b[K"


class ProgressLine:
    """Only where standard error is a terminal that can do it; other lines push it down."""

    def __init__(self, surface: Surface) -> None:
        self._screen = surface.error_screen
        self._shown = False
        self._enabled = can_draw()

    def show(self, progress: "Progress") -> None:
        """Draw it anew."""
        if self._enabled:
            draw(_CLEAR + self.text(progress)[: self._screen.width - 1])
            self._shown = True

    def say(self, text: str) -> None:
        """A line that stays."""
        self.clear()
        say(f"netdiag: {self._screen.visible(text)}")

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            draw(_CLEAR)
            self._shown = False

    @staticmethod
    def text(progress: "Progress") -> str:
        """Packets, bytes, losses, time."""
        return (
            f"{clock(progress.seconds)}  {progress.packets:,} packets  {amount(progress.bytes)}  "
            f"{progress.dropped:,} lost"
        )


def amount(number: int) -> str:
    """Bytes as people read them."""
    size, units = float(number), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{number} bytes" if units[0] == "bytes" else f"{size:.1f} {units[0]}"


def clock(seconds: float) -> str:
    """A length of time as people read it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def can_draw() -> bool:
    """Whether standard error can be drawn on again."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
