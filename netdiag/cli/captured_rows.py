"""The rows of one table out of captures, and on standard error what of them was not read."""

import gc
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from netdiag.cli.importing import without_collector
from netdiag.cli.terminal import say
from netdiag.io.ahead import ahead, has_cores
from netdiag.io.captures import Captures
from netdiag.io.kernels import Kind, chosen, share_memory
from netdiag.io.unneeded import give_back
from netdiag.render.coverage import Coverage
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.tables import table

if TYPE_CHECKING:
    import pyarrow as pa

Batch = list[tuple[Any, ...]]

DRAIN_EVERY = 500
_PATIENCE = 0.0002


def row_batches(
    captures: Captures, options: EngineOptions, wanted: str, names: Sequence[str] | None = None
) -> Iterator[Batch]:
    """The rows, as many at a time as came together, of all columns or of those named.

    At the end it says on standard error what was not read.
    """
    if chosen(captures, payloads=options.payloads) is Kind.COMPILED:
        from netdiag.traffic.arrow_rows import rows_of  # pyarrow, an extra

        shape = table(wanted)
        yield from (rows_of(batch) for batch in _compiled(captures, options, wanted, names or shape.names))
        return
    places = None if names is None else [table(wanted).names.index(name) for name in names]
    for rows in _plain(captures, options, wanted):
        yield rows if places is None else [tuple(row[place] for place in places) for row in rows]


def arrow_batches(
    captures: Captures, options: EngineOptions, wanted: str, names: Sequence[str]
) -> Iterator["pa.RecordBatch"]:
    """The same as record batches of the columns named."""
    from netdiag.traffic.arrow import record_batch  # pyarrow, an extra

    if chosen(captures, payloads=options.payloads) is Kind.COMPILED:
        return _compiled(captures, options, wanted, names)
    shape = table(wanted)
    return (record_batch(shape, rows, names) for rows in _plain(captures, options, wanted) if rows)


def _plain(captures: Captures, options: EngineOptions, wanted: str) -> Iterator[Batch]:
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
    captures.finish(engine)
    rows = engine.drain()
    coverage.add(rows["losses"])
    yield rows[wanted]
    _tell(coverage, wanted)


def _compiled(
    captures: Captures, options: EngineOptions, wanted: str, names: Sequence[str]
) -> Iterator["pa.RecordBatch"]:
    with without_collector():
        import pyarrow as pa  # an extra, as numba is

        from netdiag.io.compiled_tables import read_tables
        from netdiag.io.kept_programs import kept_programs
        from netdiag.traffic.arrow import record_batch

        # What was imported stays; the collector need not look at it again.
        if not gc.get_freeze_count():
            gc.freeze()
    share_memory()
    # Arrow's own pool keeps 40 MB of what one thread takes and another one gives back.
    pa.set_memory_pool(pa.system_memory_pool())
    coverage = Coverage()
    beside = has_cores(2)
    programs = kept_programs(options.tables)
    tables = read_tables(captures, options, columns={wanted: names}, beside=beside, programs=programs)
    if beside:
        # While one batch is written the engine makes the next ones. Threads that come out of a kernel wait for one
        # that is in Python, at most so long.
        sys.setswitchinterval(_PATIENCE)
        tables = ahead(tables)
    for number, ready in enumerate(tables):
        if not number:
            give_back()
        coverage.add(ready.rows.get("losses", ()))
        if rows := ready.rows.get(wanted):
            yield record_batch(table(wanted), rows, names)
        yield from ready.batches.get(wanted, ())
    _tell(coverage, wanted)


def _tell(coverage: Coverage, wanted: str) -> None:
    told = coverage.line
    if told and wanted != "losses":
        say(f"netdiag: {told} (--table losses says where)")
