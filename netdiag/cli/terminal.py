"""Standard output and standard error: what they can show, and writing to them so that nothing is lost or torn."""

import io
import os
import shutil
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import TextIO

from netdiag.cli.rule_pages import rule_pages
from netdiag.errors import InputError, MissingExtra, NetdiagError
from netdiag.render.links import Links
from netdiag.render.redact import redacted
from netdiag.render.screen import Line, Run, Screen, Style, paint

# Wider lines are hard to read; a pipe has no width of its own.
_WIDEST = 140
_NO_TERMINAL = 100
_NARROWEST = 40


class Colour(StrEnum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


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


def write_text(text: str) -> None:
    """Write to standard output, to the last byte; a reader that has gone away is no error."""
    _write(text, None)


def write_bytes(data: bytes | memoryview) -> None:
    """Write bytes as they are to standard output."""
    _write("", data)


def say(text: str) -> None:
    """One line for the user on standard error; lost when nobody can read it."""
    _say(text + "\n")


def draw(text: str) -> None:
    """Text on standard error as it is, for a line that is drawn again."""
    _say(text)


def report_error(error: NetdiagError, screen: Screen) -> None:
    """One clear line, and the way out below it; a command that is the whole answer stands on the line itself."""
    lines: list[Line] = [(Run("netdiag: ", Style.ERROR), screen.run(redacted(str(error))))]
    if error.hint and isinstance(error, MissingExtra):
        lines = [(*lines[0], Run(": "), screen.run(error.hint))]
    elif error.hint:
        lines.append((Run("  fix: ", Style.PLACE), screen.run(error.hint)))
    _say(paint(lines, screen))


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
        raise InputError("standard output is closed", hint="use --output FILE")
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


def _say(text: str) -> None:
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
