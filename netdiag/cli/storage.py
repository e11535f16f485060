"""`netdiag storage`: what a broker left in its data directory."""

from enum import StrEnum
from typing import Annotated

import typer
from typer import Argument, Option

from netdiag.app.captures import table_columns
from netdiag.app.storage import StorageQuery, read_storage, read_storage_table
from netdiag.cli.command import EngineHost, console_of
from netdiag.cli.console import Console, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.table_rows import TableFormat, named_columns, write_rows
from netdiag.errors import UsageError
from netdiag.render.storage import storage_json, storage_text


class LogTable(StrEnum):
    """The tables of what brokers store."""

    SEGMENTS = "segments"
    BATCHES = "batches"
    RECORDS = "records"
    PROBLEMS = "problems"
    STORED_RECORDS = "stored_records"
    COMMITTED_OFFSETS = "committed_offsets"

    @property
    def full_name(self) -> str:
        """As docs/tables.md calls it: captures have segments, batches and records, too."""
        return self.value if self in (LogTable.STORED_RECORDS, LogTable.COMMITTED_OFFSETS) else f"log_{self.value}"


def storage(
    context: typer.Context,
    directories: Annotated[
        list[str],
        Argument(metavar="DIR...", help="A data directory (log.dirs), container:NAME[:DIR] or volume:NAME."),
    ],
    as_json: Annotated[bool, Option("--json", help="JSON for programs (docs/output.md).")] = False,
    which: Annotated[
        LogTable | None, Option("--table", help="Print the rows of a table instead (docs/tables.md).")
    ] = None,
    form: Annotated[
        TableFormat | None,
        Option("--format", "-f", help="With --table: json (one object per line), csv or arrow. Default: json."),
    ] = None,
    columns: Annotated[
        str | None, Option("--columns", help="With --table: only these columns, comma-separated, in this order.")
    ] = None,
    payloads: Annotated[
        bool, Option("--payloads", help="With --table records: show keys and values of records.")
    ] = False,
    topic: Annotated[list[str] | None, Option("--topic", help="Read only the logs of this topic; repeatable.")] = None,
    no_logs: Annotated[
        bool, Option("--no-logs", help="Read only names and text files, which takes no time however large logs are.")
    ] = False,
    host: EngineHost = None,
) -> ExitStatus:
    """Show which cluster and node wrote a broker's data directory, and what it holds. Changes nothing.

    The exit status is 1 if a file in it is not as a broker leaves it.
    """
    if payloads and which is not LogTable.RECORDS:
        raise UsageError("keys and values are in --table records only", hint="add --table records")
    if which is None and (form is not None or columns is not None):
        raise UsageError("--format and --columns are about the rows of a table", hint="add --table segments")
    if which is not None and (as_json or no_logs):
        raise UsageError(f"--table {which} does not go with {'--json' if as_json else '--no-logs'}")
    query = StorageQuery(names=tuple(directories), topics=frozenset(topic or ()), host=host)
    console = console_of(context)
    if which is not None:
        return _table(query, which, form or TableFormat.JSON, columns, payloads, console)
    found = read_storage(query, reads_logs=not no_logs, listener=console)
    write_text(storage_json(found) if as_json else storage_text(found, console.screen))
    return ExitStatus.FINDINGS if any(one.problems for one in found) else ExitStatus.CLEAN


def _table(
    query: StorageQuery, which: LogTable, form: TableFormat, columns: str | None, payloads: bool, console: Console
) -> ExitStatus:
    chosen = table_columns(which.full_name, named_columns(columns))
    names = [column.name for column in chosen]
    batches = read_storage_table(query, which.full_name, names, payloads=payloads, listener=console)
    count = write_rows(form, which.full_name, chosen, batches)
    # No problem is what everybody hopes for.
    if which is LogTable.PROBLEMS:
        return ExitStatus.FINDINGS if count else ExitStatus.CLEAN
    return ExitStatus.CLEAN if count else ExitStatus.NOTHING_TO_CHECK
