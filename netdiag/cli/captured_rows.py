"""The rows of one table out of captures, and on standard error what of them was not read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from netdiag.cli.console import say
from netdiag.io.capture_files import capture_files
from netdiag.render.exchanges import UnreadCounter, copies_line
from netdiag.traffic import native
from netdiag.traffic.native import ReadOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is read of captures: `table`, of it only the columns named.

    `since_ns`, `until_ns`: only packets from the one on and before the other, nanoseconds since 1970 UTC.
    """

    table: str
    columns: Sequence[str] | None = None
    since_ns: int | None = None
    until_ns: int | None = None


def batches(paths: Sequence[str], options: ReadOptions, wanted: Wanted) -> Iterator[native.Batch]:
    """The rows as they become ready; InputError where a path leads to no capture.

    At the end it says on standard error what was not read, and what was taken as seen before.
    """
    coverage = UnreadCounter()
    columns = {} if wanted.columns is None else {wanted.table: wanted.columns}
    reading = native.read(
        capture_files(paths), options, columns=columns, since_ns=wanted.since_ns, until_ns=wanted.until_ns
    )
    for ready in reading:
        if wanted.table != "losses":
            for batch in ready.get("losses", ()):
                coverage.add(batch.rows())
        yield from ready.get(wanted.table, ())
    if coverage.line:
        say(f"netdiag: {coverage.line} (--table losses says where)")
    if line := copies_line(reading.copies):
        say(f"netdiag: {line}")
