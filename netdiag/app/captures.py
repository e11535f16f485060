"""Read packet captures: the rows of one table as they become ready."""

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from netdiag.app.progress import SILENT, Listener
from netdiag.errors import UsageError
from netdiag.io.files.captures import capture_files
from netdiag.render.exchanges import UnreadCounter, copies_line
from netdiag.traffic import native
from netdiag.traffic.native import NO_NAMES, ReadOptions, parse_time
from netdiag.traffic.rows import ConnectionRow
from netdiag.traffic.tables import Column, table
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.topology.graph import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureQuery:
    """Which captures are read, and which rows of them.

    `since_ns`, `until_ns`: only packets from the one on and before the other, nanoseconds since 1970 UTC.
    """

    files: tuple[str, ...]
    rows: ReadOptions = field(default_factory=ReadOptions)
    since_ns: int | None = None
    until_ns: int | None = None


def read_table(
    options: CaptureQuery, name: str, columns: Sequence[str] | None = None, listener: Listener = SILENT
) -> Iterator[native.Batch]:
    """The rows of a table, in these columns, as they become ready; InputError where a path leads to no capture.

    In the end the listener hears what was not read, and what was taken as seen before.
    """
    unread = UnreadCounter()
    reading = native.read(
        capture_files(options.files),
        replace(options.rows, tables=frozenset({name, "losses"})),
        columns={} if columns is None else {name: columns},
        since_ns=options.since_ns,
        until_ns=options.until_ns,
    )
    for ready in reading:
        if name != "losses":
            for batch in ready.get("losses", ()):
                unread.add(batch.rows())
        yield from ready.get(name, ())
    if unread.line:
        listener.notice(f"{unread.line} (--table losses says where)")
    if line := copies_line(reading.copies):
        listener.notice(line)


def table_columns(name: str, chosen: Sequence[str] | None = None) -> tuple[Column, ...]:
    """The columns of a table, or those chosen in their order; UsageError where it has no such column."""
    columns = table(name).columns
    if chosen is None:
        return columns
    known = {column.name: column for column in columns}
    unknown = [column for column in chosen if column not in known]
    if unknown or not chosen:
        raise UsageError(
            f"no column '{unknown[0]}' in {name}" if unknown else "no column is named",
            hint=f"the columns are {', '.join(known)}",
        )
    return tuple(known[column] for column in chosen)


def time_span(since: str | None, until: str | None) -> tuple[int | None, int | None]:
    """The times as nanoseconds since 1970 UTC; UsageError for what is no time, or a span that holds none."""
    first, last = (None if text is None else parse_time(text) for text in (since, until))
    if first is not None and last is not None and first >= last:
        raise UsageError(f"--since '{since}' is not before --until '{until}'")
    return first, last


def with_captured_traffic(topology: "Topology", files: Sequence[str], listener: Listener = SILENT) -> "Topology":
    """The topology with the traffic of captures; InputError for what is no capture."""
    from netdiag.app.address_names import address_names
    from netdiag.topology.traffic import with_traffic

    names = NO_NAMES if topology.deployment is None else address_names(topology.deployment)
    options = CaptureQuery(files=tuple(files), rows=ReadOptions(address_names=names))
    batches = read_table(options, "connections", listener=listener)
    return with_traffic(topology, (ConnectionRow(*row) for batch in batches for row in batch.rows()))
