"""`check-listeners --live --watch`: the matrix kept live, with what broke, when, and what came back.

On a terminal a picture is drawn in place, on the screen beside the scrolled one; elsewhere the report is written once
and then a line for each change. One look is over before the next begins, so nothing piles up.
"""

import os
import shutil
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from netdiag.cli.console import Console, is_terminal, say, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.io.watch import wait_for_reader
from netdiag.render.formats import text
from netdiag.render.matrix.watch import Change, WatchState, change_line, change_lines, watch_screen
from netdiag.render.report import Report
from netdiag.render.screen import Line, paint

EVERY = 5.0
# What a look takes on top of the time for one step, so that a fault is seen within two intervals.
_BESIDE = 1.5
_LEAST_PATIENCE = 0.5
# So often changes are remembered; a watch may run for weeks.
_REMEMBERED = 100

# The other screen of a terminal, no cursor, no line breaks of its own making; and back (xterm's control sequences).
_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l"
_LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How to watch; `every` is seconds from the begin of one look to the next."""

    every: float = EVERY
    as_json: bool = False


def patience(every: float, timeout: float) -> float:
    """Seconds for one step of a look, so that a fault is told within two intervals."""
    return min(timeout, max(_LEAST_PATIENCE, every - _BESIDE))


def watch_live(look: Callable[[], Report], order: Order, console: Console) -> ExitStatus:
    """Look and tell until KeyboardInterrupt, or until nobody reads any more."""
    with _telling(order, console) as tell:
        memory = WatchState()
        while True:
            begin = time.monotonic()
            report = look()
            if report.interrupted:
                raise KeyboardInterrupt
            first = memory.known is None
            told = memory.take(report)
            tell(memory.known, told, first=first)
            if not wait_for_reader(sys.stdout, begin + order.every - time.monotonic()):
                return ExitStatus.CLEAN


_Tell = Callable[..., None]


@contextmanager
def _telling(order: Order, console: Console) -> Iterator[_Tell]:
    if order.as_json:
        yield _tell_json
    elif is_terminal():
        with _Drawn(order, console) as drawn:
            yield drawn.tell
    else:
        yield lambda report, told, *, first: _tell_text(report, told, console, first=first)


def _tell_json(report: Report, told: Sequence[Change], *, first: bool) -> None:
    stamp = datetime.now().astimezone().isoformat(timespec="milliseconds")
    write_text("".join(change_line(change, stamp) for change in told))


def _tell_text(report: Report, told: Sequence[Change], console: Console, *, first: bool) -> None:
    """The whole report once, then the changes as they come."""
    if first:
        write_text(text.render(report, console.screen, full=console.verbose))
        say("netdiag: watching; Ctrl-C ends it")
    else:
        lines = change_lines(told, console.screen, time.strftime("%H:%M:%S"), full=console.verbose)
        write_text(paint(lines, console.screen))


class _Drawn:
    """A terminal that is drawn on; given back as it was, with the changes, whatever ends the watch."""

    def __init__(self, order: Order, console: Console) -> None:
        self._order = order
        self._console = console
        self._log: deque[list[Line]] = deque(maxlen=_REMEMBERED)
        self._report: Report | None = None
        self._status = "looking"
        self._drawing = False
        self._handlers: dict[int, object] = {}

    def __enter__(self) -> "_Drawn":
        write_text(_ENTER)
        for number, handler in ((signal.SIGWINCH, self._resized), (signal.SIGTSTP, self._suspended)):
            self._handlers[number] = signal.signal(number, handler)
        self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        write_text(_LEAVE + paint(chain.from_iterable(self._log), self._console.screen))

    def tell(self, report: Report, told: Sequence[Change], *, first: bool) -> None:
        clock = time.strftime("%H:%M:%S")
        if told and not first:
            self._log.append(change_lines(told, self._console.screen, clock, full=self._console.verbose))
        self._report = report
        self._status = f"{clock}, every {self._order.every:g} s; Ctrl-C ends it"
        self._draw()

    def _draw(self) -> None:
        # A signal may come while this runs; it is drawn again then.
        self._drawing, size = True, None
        while size != (size := _size()):
            screen = self._console.screen
            report = self._report or Report()
            told = tuple(chain.from_iterable(reversed(self._log)))
            lines = watch_screen(report, told, screen, rows=size.lines, columns=size.columns, status=self._status)
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
