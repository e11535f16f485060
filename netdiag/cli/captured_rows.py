"""The rows of one table out of captures, and on standard error what of them was not read."""

from collections.abc import Iterator
from typing import Any

from netdiag.cli.terminal import say
from netdiag.io.captures import Captures
from netdiag.render.coverage import Coverage
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.run import Engine

Batch = list[tuple[Any, ...]]

DRAIN_EVERY = 500


def row_batches(captures: Captures, options: EngineOptions, wanted: str) -> Iterator[Batch]:
    """The rows, as many at a time as came together; at the end, on standard error, what was not read."""
    coverage = Coverage()
    engine = Engine(options, [file.name for file in captures.files])
    # What comes through a pipe may come slowly: nothing waits for more. Payloads are large.
    every = 1 if options.payloads or any(file.size is None for file in captures.files) else DRAIN_EVERY
    for number, packet in enumerate(captures.packets(), 1):
        engine.feed(packet)
        if number % every == 0:
            rows = engine.drain()
            coverage.add(rows["losses"])
            yield rows[wanted]
    for file in captures.files:
        engine.dropped(file.index, file.account.dropped)
        for lost in file.losses:
            engine.lose(file.index, lost)
    engine.finish()
    rows = engine.drain()
    coverage.add(rows["losses"])
    yield rows[wanted]
    told = coverage.line
    if told and wanted != "losses":
        say(f"netdiag: {told} (--table losses says where)")
