"""What `check-listeners --live --watch` shows: the matrix as it is now, what broke, when, and what came back.

On a terminal a picture is drawn in place, on the screen beside the scrolled one; elsewhere the report is written once
and then a line for each change.
"""

import os
import shutil
import signal
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain
from typing import Protocol

from netdiag.cli.console import Console, is_terminal, say, write_text
from netdiag.render.formats import text
from netdiag.render.matrix.watch import Change, WatchState, change_line, change_lines, watch_screen
from netdiag.render.report import Report
from netdiag.render.screen import Line, paint

# So often changes are remembered; a watch may run for weeks.
_REMEMBERED = 100

# The other screen of a terminal, no cursor, no line breaks of its own making; and back (xterm's control sequences).
_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l"
_LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


def show_rounds(rounds: Iterable[Report], console: Console, *, every: float, as_json: bool) -> None:
    """Show each report and how it differs from the one before; `every` is the seconds between two."""
    memory = WatchState()
    with _display(console, every=every, as_json=as_json) as display:
        for report in rounds:
            first = memory.known is None
            changes = memory.take(report)
            display.show(memory.known or report, changes, first=first)


class _Display(Protocol):
    def show(self, report: Report, changes: Sequence[Change], *, first: bool) -> None: ...


@contextmanager
def _display(console: Console, *, every: float, as_json: bool) -> Iterator[_Display]:
    if as_json:
        yield _JsonLines()
    elif is_terminal():
        with _Picture(console, every) as drawn:
            yield drawn
    else:
        yield _TextLines(console)


class _JsonLines:
    def show(self, report: Report, changes: Sequence[Change], *, first: bool) -> None:
        stamp = datetime.now().astimezone().isoformat(timespec="milliseconds")
        write_text("".join(change_line(change, stamp) for change in changes))


class _TextLines:
    """The whole report once, then the changes as they come."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def show(self, report: Report, changes: Sequence[Change], *, first: bool) -> None:
        screen, full = self._console.screen, self._console.verbose
        if first:
            write_text(text.render(report, screen, full=full))
            say("netdiag: watching; press Ctrl-C to stop")
        else:
            write_text(paint(change_lines(changes, screen, time.strftime("%H:%M:%S"), full=full), screen))


class _Picture:
    """A terminal that is drawn on; given back as it was, with the changes, whatever ends the watch."""

    def __init__(self, console: Console, every: float) -> None:
        self._console = console
        self._every = every
        self._log: deque[list[Line]] = deque(maxlen=_REMEMBERED)
        self._report: Report | None = None
        self._status = "looking"
        self._drawing = False
        self._handlers: dict[int, object] = {}

    def __enter__(self) -> "_Picture":
        write_text(_ENTER)
        for number, handler in ((signal.SIGWINCH, self._resized), (signal.SIGTSTP, self._suspended)):
            self._handlers[number] = signal.signal(number, handler)
        self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        write_text(_LEAVE + paint(chain.from_iterable(self._log), self._console.screen))

    def show(self, report: Report, changes: Sequence[Change], *, first: bool) -> None:
        clock = time.strftime("%H:%M:%S")
        if changes and not first:
            self._log.append(change_lines(changes, self._console.screen, clock, full=self._console.verbose))
        self._report = report
        self._status = f"{clock}, every {self._every:g} s; Ctrl-C stops it"
        self._draw()

    def _draw(self) -> None:
        # A signal may come while this runs; it is drawn again then.
        self._drawing, size = True, None
        while size != (size := _size()):
            screen = self._console.screen
            report = self._report or Report()
            changes = tuple(chain.from_iterable(reversed(self._log)))
            lines = watch_screen(report, changes, screen, rows=size.lines, columns=size.columns, status=self._status)
            drawn = paint(lines, screen).removesuffix("\n").replace("\n", f"{_REST_OF_LINE}\r\n")
            write_text(f"{_HOME}{drawn}{_REST_OF_LINE}{_REST_OF_SCREEN}")
        self._drawing = False

    def _resized(self, number: int, frame: object) -> None:
        if not self._drawing:
            self._draw()

    def _suspended(self, number: int, frame: object) -> None:
        """Ctrl-Z: the shell gets its screen, and the picture comes back with the job."""
        with suppress(OSError, ValueError):
            os.write(sys.stdout.fileno(), _LEAVE.encode())
            os.kill(os.getpid(), signal.SIGSTOP)
            os.write(sys.stdout.fileno(), _ENTER.encode())
        self._resized(number, frame)


def _size() -> os.terminal_size:
    """As the terminal is now; what the environment says may be of long ago."""
    try:
        return os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        return shutil.get_terminal_size()
