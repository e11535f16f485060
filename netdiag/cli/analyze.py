"""`netdiag analyze`: what captures of any size say, once or while a folder of them fills."""

import os
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from netdiag.cli.command import (
    CaptureBrokers,
    CaptureClients,
    CaptureHost,
    CaptureLive,
    CapturePorts,
    CaptureProject,
    CaptureTopics,
    FailOn,
    Since,
    Until,
    capture_query,
    console_of,
)
from netdiag.cli.console import Console, say, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import InputError, UsageError
from netdiag.findings import Severity
from netdiag.render.analysis.tables import SHOWN, TOP, analysis_json, analysis_text
from netdiag.render.findings.finding_text import place_text
from netdiag.traffic.analysis import Analysis

if TYPE_CHECKING:
    from netdiag.io.spark.follow import Done

_DAY = 86_400


class AnalysisFormat(StrEnum):
    """How the result is written."""

    TEXT = "text"
    JSON = "json"


def analyze(
    context: typer.Context,
    files: Annotated[list[str], Argument(metavar="FILES|DIRS|GLOBS", help="Captures, folders or patterns.")],
    form: Annotated[
        AnalysisFormat, Option("--format", "-f", help="text or json (docs/output.md).")
    ] = AnalysisFormat.TEXT,
    out: Annotated[
        str | None, Option("--out", metavar="DIR", help="Write all tables to this folder as Parquet.")
    ] = None,
    report: Annotated[str | None, Option("--report", metavar="FILE", help="Write an HTML page to this file.")] = None,
    force: Annotated[bool, Option("--force", help="Replace existing files of --out and --report.")] = False,
    since: Since = None,
    until: Until = None,
    client: CaptureClients = None,
    broker: CaptureBrokers = None,
    topic: CaptureTopics = None,
    port: CapturePorts = None,
    master: Annotated[
        str, Option("--master", metavar="URL", help="Spark's master. Default: this machine.")
    ] = "local[*]",
    partitions: Annotated[
        int | None, Option("--partitions", min=1, max=10_000, help="Number of tasks that read captures.")
    ] = None,
    top: Annotated[int, Option("--top", min=1, max=1000, help="Rows of each table in the text.")] = TOP,
    fail_on: FailOn = Severity.ERROR,
    storage: Annotated[
        list[str] | None,
        Option(
            "--storage",
            metavar="DIR",
            help="Join with a broker's data directory, container:NAME[:DIR] or volume:NAME; repeatable.",
        ),
    ] = None,
    live: CaptureLive = False,
    host: CaptureHost = None,
    project: CaptureProject = None,
    follow: Annotated[
        bool,
        Option(
            "--follow", help="Read new captures in a folder as they arrive; a later run continues where this one stops."
        ),
    ] = False,
    checkpoint: Annotated[
        str | None,
        Option("--checkpoint", metavar="DIR", help="The folder for the state of --follow (OUT/.checkpoint)."),
    ] = None,
    every: Annotated[
        float | None, Option("--every", min=0.1, max=86_400, help="With --follow: seconds between two batches (10).")
    ] = None,
    once: Annotated[bool, Option("--once", help="With --follow: analyze what is there, then stop.")] = False,
    lateness: Annotated[
        float | None,
        Option("--lateness", min=0, max=86_400, help="With --follow: seconds by which a file may arrive late (2)."),
    ] = None,
) -> ExitStatus:
    """Analyze packet captures with Spark: what is wrong, who sends how much to whom, how long it takes."""
    console = console_of(context)
    if follow:
        _refuse_follow(files, out, report, once=once, force=force, live=live)
        if storage:
            raise UsageError("--storage and --follow exclude each other", hint="use only one of them")
    else:
        only = {"--checkpoint": checkpoint, "--every": every, "--once": once or None, "--lateness": lateness}
        for name, value in only.items():
            if value is not None:
                raise UsageError(f"{name} requires --follow")
        if force and out is None and report is None:
            raise UsageError("--force requires --out or --report")
    from netdiag.app.analyze import AnalyzeOptions, refuse_report, require_spark, write_report
    from netdiag.app.analyze import analyze as analyze_captures
    from netdiag.app.storage import StorageQuery

    if report is not None:
        refuse_report(report, force=force)
    require_spark()
    query = capture_query(
        files,
        since=since,
        until=until,
        clients=client,
        brokers=broker,
        ports=port,
        live=live,
        host=host,
        project=project,
        listener=console,
    )
    topics = frozenset(topic or ())
    is_json = form is AnalysisFormat.JSON
    answers = frozenset() if is_json or (out is not None and not follow) else SHOWN
    if follow:
        from netdiag.app.analyze import FollowOptions
        from netdiag.app.analyze import follow as follow_folder

        folder = FollowOptions(
            query=query,
            out=out or "",
            checkpoint=checkpoint,
            every=every,
            once=once,
            lateness=lateness,
            master=master,
            partitions=partitions,
            topics=topics,
            charts=report is not None,
            only=answers,
        )
        analysis = follow_folder(folder, _BatchLines(console, form).show, console)
    else:
        options = AnalyzeOptions(
            query=query,
            master=master,
            partitions=partitions,
            topics=topics,
            out=out,
            force=force,
            charts=report is not None,
            only=answers,
            storage=StorageQuery(names=tuple(storage), host=host) if storage else None,
        )
        analysis = analyze_captures(options, console)
    if report is not None:
        write_report(report, analysis)
    write_text(analysis_json(analysis) if is_json else analysis_text(analysis, console.screen, top=top))
    return _status(analysis, fail_on)


def _refuse_follow(
    files: list[str], out: str | None, report: str | None, *, once: bool, force: bool, live: bool
) -> None:
    if len(files) != 1 or files[0] == "-":
        raise UsageError("--follow takes one folder")
    if not os.path.isdir(files[0]):
        raise InputError(
            "is not a folder", where=files[0], hint="--follow takes the folder that captures are written to"
        )
    if out is None:
        raise UsageError("--follow needs a folder for the tables", hint="add --out DIR")
    if report is not None and not once:
        raise UsageError("--follow writes a --report only with --once", hint="add --once")
    if force:
        raise UsageError("--force and --follow exclude each other", hint="use only one of them")
    if live:
        raise UsageError("--live and --follow exclude each other", hint="use only one of them")


class _BatchLines:
    """A line for every batch; on standard error where standard output holds JSON."""

    def __init__(self, console: Console, form: AnalysisFormat) -> None:
        self._screen = console.screen
        self._aside = form is AnalysisFormat.JSON
        self._before = (0, 0)

    def show(self, done: "Done") -> None:
        packets, exchanges = done.packets, done.exchanges
        many = len(done.plan.files)
        parts = [
            f"batch {done.plan.batch}: {many} file{'s' if many != 1 else ''}",
            f"{packets:,} packets ({packets - self._before[0]:+,})",
            f"{exchanges:,} exchanges ({exchanges - self._before[1]:+,})",
        ]
        behind = None if done.last is None else time.time() - done.last / 1e9
        if behind is not None and 0 <= behind < _DAY:
            parts.append(f"{behind:.1f} s behind")
        if done.plan.left:
            parts.append(f"{done.plan.left / 1e6:,.1f} MB to come")
        self._before = packets, exchanges
        self._write(", ".join(parts))
        for note in done.plan.notes:
            self._write(f"  {note}")
        for finding in done.found:
            place = place_text(finding.location, "")
            self._write(f"  new: {finding.severity.value} {finding.rule}: {finding.message} ({place})")

    def _write(self, text: str) -> None:
        line = self._screen.visible(text)
        if self._aside:
            say(line)
        else:
            write_text(f"{line}\n")


def _status(analysis: Analysis, fail_on: Severity) -> ExitStatus:
    if any(finding.severity.at_least(fail_on) for finding in analysis.findings):
        return ExitStatus.FINDINGS
    if not analysis.exchanges:
        say("netdiag: these captures contain no readable Kafka traffic")
        return ExitStatus.NOTHING_TO_CHECK
    return ExitStatus.CLEAN
