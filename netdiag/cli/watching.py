"""`--watch`: the same check again whenever a file that it read changes, until the user stops it."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from netdiag.cli.console import Console, is_terminal, report_error, say, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import NetdiagError
from netdiag.io.config_files import OWN, SHARED
from netdiag.io.files import BASE_NAMES, OVERRIDE_NAMES
from netdiag.io.watch import stamps, wait_for_change
from netdiag.render.report import Report

Watch = Annotated[
    bool, typer.Option("--watch", help="Check again whenever a file changes; with --live, look again and again.")
]

# Seconds between two looks at what runs.
SHORTEST = 1.0
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"
# What may come to lie beside a compose file and change what is read.
_BESIDE = (*BASE_NAMES, *OVERRIDE_NAMES, ".env", OWN, SHARED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One run: its exit status, what it found, and files that it read besides those of the report."""

    status: ExitStatus
    report: Report
    also_read: tuple[str, ...] = ()


def watch(check: Callable[[], Done], files: Sequence[str], console: Console) -> ExitStatus:
    """Check now and at every change; ends with the status of a run that the user stopped, or by KeyboardInterrupt."""
    watched = set(_around(files or ("",)))
    while True:
        # Taken before the files are read, so that no change falls in between.
        before = stamps(watched)
        _clear()
        try:
            done = check()
        except NetdiagError as error:
            report_error(error, console.error_screen)
        else:
            if done.status is ExitStatus.INTERRUPTED:
                return done.status
            new = set(_read(done)) - watched
            watched |= new
            before |= stamps(new)
        say(f"netdiag: watching {len(watched)} files and places of files; Ctrl-C ends it")
        wait_for_change(before)


def _around(files: Iterable[str]) -> Iterable[str]:
    for path in files:
        if path:
            yield path
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        yield from (os.path.join(folder, name) for name in _BESIDE)


def _read(done: Done) -> Iterable[str]:
    """Every file that the run read, or could not read."""
    yield from done.report.sources
    yield from filter(None, done.also_read)
    for item in done.report.inputs:
        yield from item.also_read
        if item.error and item.error.where:
            yield item.error.where.partition(":")[0]


def _clear() -> None:
    if is_terminal():
        write_text(_CLEAR)
