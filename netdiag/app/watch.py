"""Check again and again: whenever a file changes that was read, or at intervals what runs."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from netdiag.app.check import CheckResult
from netdiag.io.files import BASE_NAMES, OVERRIDE_NAMES, OWN, SHARED, stamps, wait_for_change, wait_for_reader
from netdiag.render.report import Report

# What may come to lie beside a compose file and change what is read.
_BESIDE = (*BASE_NAMES, *OVERRIDE_NAMES, ".env", OWN, SHARED)
# Seconds that a live check takes on top of the time for one step, and the least time for a step.
_OVERHEAD = 1.5
_SHORTEST_STEP = 0.5


class FileWatch:
    """The files of a check that is made again whenever one of them changes."""

    def __init__(self, files: Iterable[str]) -> None:
        self.files = set(_with_neighbours(files))

    def rounds(self) -> Iterator[None]:
        """One round now, and one for each change; what a round reads is to be added before the next begins."""
        while True:
            # Taken before the files are read, so that no change falls in between.
            before = stamps(self.files)
            yield
            wait_for_change({**stamps(self.files - before.keys()), **before})

    def add(self, result: CheckResult) -> None:
        """Watch every file that a check read, or could not read."""
        self.files.update(filter(None, result.also_read), result.report.sources)
        for item in result.report.inputs:
            self.files.update(item.also_read)
            if item.error and item.error.where:
                self.files.add(item.error.where.partition(":")[0])


def live_rounds(check: Callable[[], Report], every: float, output: TextIO | None) -> Iterator[Report]:
    """The report now and every so many seconds, until nobody reads the output any more.

    One check is over before the next begins, so nothing piles up.
    """
    while True:
        begin = time.monotonic()
        report = check()
        if report.interrupted:
            raise KeyboardInterrupt
        yield report
        if not wait_for_reader(output, begin + every - time.monotonic()):
            return


def step_timeout(every: float, timeout: float) -> float:
    """Seconds for one step of a check, so that a fault is reported within two intervals."""
    return min(timeout, max(_SHORTEST_STEP, every - _OVERHEAD))


def _with_neighbours(files: Iterable[str]) -> Iterator[str]:
    for path in tuple(files) or ("",):
        if path:
            yield path
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        yield from (os.path.join(folder, name) for name in _BESIDE)
