"""Standard output and standard error of a command: what they can show, and writing so that nothing is lost or torn."""

import io
import os
import re
import shutil
import sys
import traceback
from collections.abc import Mapping
from enum import StrEnum
from typing import TextIO

from netdiag.errors import InputError, MissingExtra, NetdiagError
from netdiag.render.redact import redacted_error
from netdiag.render.screen import Line, Links, Run, Screen, Style, paint

# Wider lines are hard to read; a pipe has no width of its own.
_WIDEST = 140
_NO_TERMINAL = 100
_NARROWEST = 40
_CLEAR_LINE = "\r\x1b[K"
# Where the pages of the rules are published (docs/rules of this project); action.yml sets it for its checkout.
RULE_PAGES = "NETDIAG_RULE_PAGES"
_WEB_ADDRESS = r"https?://[A-Za-z0-9][A-Za-z0-9.:-]*(?:/[A-Za-z0-9._~@:+%/-]*)?"


class Colour(StrEnum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Console:
    """The two streams under the options that every command has; the listener of what the application does."""

    def __init__(self, *, verbose: bool = False, debug: bool = False, colour: Colour = Colour.AUTO) -> None:
        self.verbose = verbose
        self.debug = debug
        self.colour = colour
        self._progress_shown = False

    @property
    def screen(self) -> Screen:
        """What standard output can show."""
        return screen_of(sys.stdout, self.colour, os.environ)

    @property
    def error_screen(self) -> Screen:
        """What standard error can show."""
        return screen_of(sys.stderr, self.colour, os.environ)

    def detail(self, text: str) -> None:
        """A line on standard error under --verbose."""
        if self.verbose:
            self.notice(text)

    def notice(self, text: str) -> None:
        """A line on standard error."""
        self.progress("")
        say(f"netdiag: {self.error_screen.visible(text)}")

    def warning(self, error: NetdiagError) -> None:
        """An error and its way out on standard error."""
        self.progress("")
        report_error(error, self.error_screen)

    def progress(self, text: str) -> None:
        """A line on a terminal that is drawn again in its place."""
        if text and can_redraw():
            shown = f"netdiag: {self.error_screen.visible(text)}"
            _write_error(_CLEAR_LINE + shown[: self.error_screen.width - 1])
            self._progress_shown = True
        elif self._progress_shown and not text:
            _write_error(_CLEAR_LINE)
            self._progress_shown = False

    def handled(self, error: BaseException) -> None:
        """The traceback under --debug."""
        if self.debug:
            text = "".join(traceback.format_exception(error)).rstrip()
            say(self.error_screen.visible(text).replace("\\n", "\n"))


def screen_of(stream: TextIO | None, colour: Colour, environ: Mapping[str, str]) -> Screen:
    """What a stream can show."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    on_terminal = stream is not None and stream.isatty()
    if on_terminal or environ.get("COLUMNS", "").isdigit():
        columns = shutil.get_terminal_size((_NO_TERMINAL, 24)).columns
    else:
        columns = _NO_TERMINAL
    coloured = wants_colour(colour, environ, is_terminal=on_terminal)
    return Screen(
        width=max(_NARROWEST, min(_WIDEST, columns)),
        colour=coloured,
        encoding=encoding,
        links=_links(environ) if wants_links(environ, is_coloured=on_terminal and coloured) else None,
    )


def is_terminal() -> bool:
    """Whether standard output is a screen that can be cleared."""
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def can_redraw() -> bool:
    """Whether a line on standard error can be drawn again in its place."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def wants_colour(colour: Colour, environ: Mapping[str, str], *, is_terminal: bool) -> bool:
    """The option first, then NO_COLOR, then FORCE_COLOR (no-color.org, force-color.org), then the terminal."""
    if colour is not Colour.AUTO:
        return colour is Colour.ALWAYS
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return is_terminal and environ.get("TERM") != "dumb" and _draws_colour(environ)


def wants_links(environ: Mapping[str, str], *, is_coloured: bool) -> bool:
    """FORCE_HYPERLINK first, then whether it is a terminal that shows colour; logs of builds are read elsewhere.

    Linux' own console and a dumb terminal would show parts of the sequence.
    """
    forced = environ.get("FORCE_HYPERLINK", "").strip()
    if forced:
        return forced != "0"
    unfit = environ.get("NO_COLOR") or environ.get("CI") or environ.get("TERM") in ("dumb", "linux")
    return is_coloured and not unfit


def rule_pages(environ: Mapping[str, str]) -> str | None:
    """The address of the folder of the rules' pages; None where it is not known, or is no plain address."""
    address = environ.get(RULE_PAGES)
    return address if address and re.fullmatch(_WEB_ADDRESS, address) else None


def write_text(text: str) -> None:
    """Write to standard output, to the last byte; a reader that has gone away is no error."""
    _write(text, None)


def write_bytes(data: bytes | memoryview) -> None:
    """Write bytes as they are to standard output."""
    _write("", data)


def say(text: str) -> None:
    """One line for the user on standard error; lost when nobody can read it."""
    _write_error(text + "\n")


def report_error(error: NetdiagError, screen: Screen) -> None:
    """One clear line, and the way out below it; a command that is the whole answer stands on the line itself."""
    lines: list[Line] = [
        (Run("netdiag: ", Style.ERROR), screen.run(redacted_error(error.message, error.where))),
    ]
    if error.hint and isinstance(error, MissingExtra):
        lines = [(*lines[0], Run(": "), screen.run(error.hint))]
    elif error.hint:
        lines.append((Run("  fix: ", Style.PLACE), screen.run(error.hint)))
    _write_error(paint(lines, screen))


def silence(stream: TextIO | None) -> None:
    """Let what is still buffered for a reader that has gone away vanish instead of failing at exit."""
    try:
        if stream is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, io.UnsupportedOperation):
        pass


def _write(text: str, data: bytes | memoryview | None) -> None:
    stream = sys.stdout
    if stream is None:
        raise InputError("standard output is closed", hint="redirect it to a file")
    try:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        if data is None:
            stream.write(text)
        else:
            stream.flush()
            stream.buffer.write(data)
        stream.flush()
    except BrokenPipeError:
        silence(stream)
    except OSError as error:
        silence(stream)
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written: {reason[0].lower()}{reason[1:]}", where="standard output") from error


def _write_error(text: str) -> None:
    stream = sys.stderr
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        silence(stream)


def _links(environ: Mapping[str, str]) -> Links:
    # Here, and not above: most runs draw no link.
    import platform

    try:
        folder = os.getcwd()
    except OSError:
        folder = ""
    return Links(host=platform.node(), folder=folder, pages=rule_pages(environ))


def _draws_colour(environ: Mapping[str, str]) -> bool:
    """Windows consoles without a modern terminal show escape sequences as text."""
    return os.name != "nt" or any(name in environ for name in ("WT_SESSION", "TERM", "ANSICON", "ConEmuANSI"))
