"""`netdiag exchanges`: what the messages in captures are, one row each, without Spark or Java."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import typer
from typer import Argument, Option

from netdiag.app.captures import read_table, table_columns
from netdiag.cli.command import (
    CaptureBrokers,
    CaptureClients,
    CaptureHost,
    CaptureLive,
    CapturePorts,
    CaptureProject,
    CaptureTopics,
    Since,
    Until,
    capture_query,
    console_of,
)
from netdiag.cli.console import Console, say, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.table_rows import TableFormat, named_columns, write_rows
from netdiag.errors import UsageError
from netdiag.render.exchanges import exchange_line
from netdiag.render.screen import paint
from netdiag.traffic.native import Batch
from netdiag.traffic.rows import ExchangeRow
from netdiag.traffic.tables import Column


class RowFormat(StrEnum):
    """How rows are written."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    ARROW = "arrow"


class TableName(StrEnum):
    """The tables that the engine fills."""

    EXCHANGES = "exchanges"
    PARTITIONS = "partitions"
    BATCHES = "batches"
    GROUP_EVENTS = "group_events"
    ENDPOINTS = "endpoints"
    LEADERS = "leaders"
    CONNECTIONS = "connections"
    NAMES = "names"
    LOSSES = "losses"
    RECORDS = "records"


def exchanges(
    context: typer.Context,
    files: Annotated[
        list[str], Argument(metavar="FILE...", help="Captures, folders or patterns; - for standard input.")
    ],
    form: Annotated[
        RowFormat, Option("--format", "-f", help="text, json (one object per line), csv or arrow (IPC stream).")
    ] = RowFormat.TEXT,
    which: Annotated[TableName, Option("--table", help="The table to print.")] = TableName.EXCHANGES,
    columns: Annotated[
        str | None, Option("--columns", help="Print only these columns, comma-separated, in this order.")
    ] = None,
    payloads: Annotated[
        bool,
        Option("--payloads", help="With --table records: show keys and values of records."),
    ] = False,
    since: Since = None,
    until: Until = None,
    client: CaptureClients = None,
    broker: CaptureBrokers = None,
    topic: CaptureTopics = None,
    port: CapturePorts = None,
    all_sightings: Annotated[
        bool,
        Option("--all-sightings", help="Print a connection once for each address at which it was captured."),
    ] = False,
    live: CaptureLive = False,
    host: CaptureHost = None,
    project: CaptureProject = None,
) -> ExitStatus:
    """Print the Kafka requests and responses in packet captures, one row each."""
    if which is TableName.RECORDS and not payloads:
        raise UsageError("keys and values are shown only with --payloads", hint="add --payloads")
    if payloads and which is not TableName.RECORDS:
        raise UsageError(f"{which} has no keys and values", hint="add --table records --format json")
    chosen = table_columns(which.value, named_columns(columns))
    if form is RowFormat.TEXT and (columns or which is not TableName.EXCHANGES):
        raise UsageError("text shows only whole exchanges", hint="add --format csv, json or arrow")
    console = console_of(context)
    query = capture_query(
        files,
        since=since,
        until=until,
        clients=client,
        brokers=broker,
        topics=topic,
        ports=port,
        all_sightings=all_sightings,
        live=live,
        host=host,
        project=project,
        listener=console,
    )
    batches = read_table(query, which.value, [column.name for column in chosen], console)
    if _write(form, which.value, chosen, batches, console):
        return ExitStatus.CLEAN
    say(f"netdiag: nothing of what was asked for is in {f'{len(files)} captures' if files[1:] else repr(files[0])}")
    return ExitStatus.NOTHING_TO_CHECK


def _write(form: RowFormat, table: str, chosen: tuple[Column, ...], batches: Iterator[Batch], console: Console) -> int:
    """Write every row; how many there were."""
    if form is not RowFormat.TEXT:
        return write_rows(TableFormat(form.value), table, chosen, batches)
    count = 0
    for batch in batches:
        count += len(batch)
        lines = (exchange_line(ExchangeRow(*row), console.screen) for row in batch.rows())
        write_text(paint(list(lines), console.screen))
    return count
