"""`netdiag exchanges`: what the messages in captures are, one row each, without Spark or Java."""

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, assert_never

import typer

from netdiag.cli.captured_rows import Wanted, batches
from netdiag.cli.command import console_of
from netdiag.cli.console import Console, say, write_bytes, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.traffic_filters import (
    AllSightings,
    Brokers,
    Clients,
    Host,
    Live,
    Ports,
    Project,
    Since,
    Topics,
    Until,
    engine_options,
    span,
)
from netdiag.errors import UsageError
from netdiag.render.exchanges import csv_header, exchange_line
from netdiag.render.screen import paint
from netdiag.traffic.column import Column, Table
from netdiag.traffic.native import Batch, arrow_stream
from netdiag.traffic.rows import ExchangeRow
from netdiag.traffic.tables import table


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


Files = Annotated[
    list[str], typer.Argument(metavar="FILE...", help="Captures, folders or patterns; - for standard input.")
]
Form = Annotated[
    RowFormat, typer.Option("--format", "-f", help="text, json (an object a line), csv or arrow (IPC stream).")
]
Columns = Annotated[str | None, typer.Option("--columns", help="Only these columns, comma-separated, in this order.")]
Payloads = Annotated[
    bool, typer.Option("--payloads", help="Show keys and values of records, with --table records; never stored else.")
]
Which = Annotated[TableName, typer.Option("--table", help="Another table than the exchanges.")]


def exchanges(
    context: typer.Context,
    files: Files,
    form: Form = RowFormat.TEXT,
    which: Which = TableName.EXCHANGES,
    columns: Columns = None,
    payloads: Payloads = False,
    since: Since = None,
    until: Until = None,
    client: Clients = None,
    broker: Brokers = None,
    topic: Topics = None,
    port: Ports = None,
    all_sightings: AllSightings = False,
    live: Live = False,
    host: Host = None,
    project: Project = None,
) -> ExitStatus:
    """Print the Kafka requests and responses in packet captures, a row each, as they complete."""
    console = console_of(context)

    _check_payloads(which, payloads)
    shape = table(which.value)
    chosen = _chosen(shape, columns)
    if form is RowFormat.TEXT and (columns or which.value != "exchanges"):
        raise UsageError("text shows whole exchanges only", hint="add --format csv, json or arrow")
    options = engine_options(frozenset({"losses"}), clients=client, brokers=broker, topics=topic, ports=port)
    options = replace(options, tables=options.tables | {shape.name}, all_sightings=all_sightings)
    if live:
        from netdiag.cli.traffic_places import places_that_run  # loads the rules about listeners

        options = replace(options, address_names=places_that_run(host, project, console))
    elif host or project:
        raise UsageError("--host and --project say what --live asks", hint="add --live")
    names = tuple(column.name for column in chosen)
    wanted = Wanted(table=shape.name, columns=names, **span(since, until))
    rows = _write(form, chosen, wanted, batches(files, options, wanted), console)
    return ExitStatus.CLEAN if rows else _nothing(files)


def _check_payloads(which: TableName, payloads: bool) -> None:
    if which is TableName.RECORDS and not payloads:
        raise UsageError("keys and values are shown only where they are asked for", hint="add --payloads")
    if payloads and which is not TableName.RECORDS:
        raise UsageError(f"{which} has no keys and values", hint="add --table records --format json")


def _chosen(shape: Table, columns: str | None) -> tuple[Column, ...]:
    if columns is None:
        return shape.columns
    known = {column.name: column for column in shape.columns}
    names = [name.strip() for name in columns.split(",") if name.strip()]
    strange = [name for name in names if name not in known]
    if strange or not names:
        raise UsageError(
            f"no column '{strange[0]}' in {shape.name}" if strange else "no column is named",
            hint=f"the columns are {', '.join(known)}",
        )
    return tuple(known[name] for name in names)


def _write(form: RowFormat, chosen: tuple[Column, ...], wanted: Wanted, read: Iterator[Batch], console: Console) -> int:
    """Write every row; how many there were."""
    count = 0
    stream = arrow_stream(wanted.table, wanted.columns or ()) if form is RowFormat.ARROW else None
    if stream is not None:
        write_bytes(stream.begin())
    elif form is RowFormat.CSV:
        write_text(csv_header(chosen))
    for batch in read:
        count += len(batch)
        if stream is not None:
            write_bytes(stream.encode(batch))
            continue
        match form:
            case RowFormat.CSV:
                write_bytes(batch.to_csv())
            case RowFormat.JSON:
                write_bytes(batch.to_json())
            case RowFormat.TEXT:
                lines = (exchange_line(ExchangeRow(*row), console.screen) for row in batch.rows())
                write_text(paint(list(lines), console.screen))
            case RowFormat.ARROW:
                pass
            case _:
                assert_never(form)
    if stream is not None:
        write_bytes(stream.end())
    return count


def _nothing(files: list[str]) -> ExitStatus:
    many = f"{len(files)} captures" if len(files) > 1 else f"'{files[0]}'"
    say(f"netdiag: nothing of what was asked for is in {many}")
    return ExitStatus.NOTHING_TO_CHECK
