"""`netdiag analyze`: what captures of any size say, asked with Spark: findings first, then the figures."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netdiag.cli.command import console_of
from netdiag.cli.console import Console, say, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.following import Checkpoint, Every, Follow, FollowOptions, Lateness, Once, Task, followed
from netdiag.cli.report_file import refuse_report, write_report
from netdiag.cli.traffic_filters import (
    Brokers,
    Clients,
    Host,
    Live,
    Ports,
    Project,
    Since,
    Span,
    Topics,
    Until,
    engine_options,
    span,
)
from netdiag.errors import InputError, UsageError, cannot_import
from netdiag.findings import Severity
from netdiag.io.capture_files import capture_files, size_of
from netdiag.render.analysis.page import analysis_page
from netdiag.render.analysis.tables import TOP, analysis_json, analysis_text
from netdiag.traffic import native
from netdiag.traffic.analysis import Analysis
from netdiag.traffic.native import NO_NAMES, AddressNames, ReadOptions
from netdiag.traffic.tables import NAMES

if TYPE_CHECKING:
    from netdiag.io.spark.extraction import Extract
    from netdiag.io.spark.reading import Reading

# Java takes its time to make fast what runs long: worth it from here on.
_LONG = 1_000_000_000
# So is the code that Spark writes for every question: 94 MB took 62 s with it, 54 s without.
_SMALL = 200_000_000
# Questions to folded tables stay small for longer: 3.3 GB took 65 s with the code and the long compiler, 51 s without.
_FOLDED = 5_000_000_000
# A task that reads less than this is not worth its start.
_LEAST = 4_000_000
_ANSWERS = "answers"


class AnalysisFormat(StrEnum):
    """How the result is written."""

    TEXT = "text"
    JSON = "json"


class FailOn(StrEnum):
    """The severity from which on a finding counts."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


Files = Annotated[list[str], typer.Argument(metavar="FILES|DIRS|GLOBS", help="Captures, folders or patterns.")]
Form = Annotated[AnalysisFormat, typer.Option("--format", "-f", help="text or json (docs/output.md).")]
Out = Annotated[str | None, typer.Option("--out", metavar="DIR", help="Write all tables there as Parquet.")]
Report = Annotated[str | None, typer.Option("--report", metavar="FILE", help="Write one HTML page to look at there.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what --out and --report name.")]
Master = Annotated[str, typer.Option("--master", metavar="URL", help="Spark's master: this machine, or a cluster.")]
Partitions = Annotated[int | None, typer.Option("--partitions", min=1, max=10_000, help="How many tasks read.")]
Top = Annotated[int, typer.Option("--top", min=1, max=1000, help="How many rows of each table text shows.")]
Fail = Annotated[FailOn, typer.Option("--fail-on", help="Severity from which on the exit status is 1.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What was asked for; `elsewhere` are captures that Spark has to look for, `only` the answers that are wanted."""

    elsewhere: tuple[str, ...]
    master: str
    partitions: int | None
    topics: frozenset[str]
    out: str | None
    force: bool
    charts: bool
    only: frozenset[str] = frozenset()


def analyze(
    context: typer.Context,
    files: Files,
    form: Form = AnalysisFormat.TEXT,
    out: Out = None,
    report: Report = None,
    force: Force = False,
    since: Since = None,
    until: Until = None,
    client: Clients = None,
    broker: Brokers = None,
    topic: Topics = None,
    port: Ports = None,
    master: Master = "local[*]",
    partitions: Partitions = None,
    top: Top = TOP,
    fail_on: Fail = FailOn.ERROR,
    live: Live = False,
    host: Host = None,
    project: Project = None,
    follow: Follow = False,
    checkpoint: Checkpoint = None,
    every: Every = None,
    once: Once = False,
    lateness: Lateness = None,
) -> ExitStatus:
    """Analyze packet captures with Spark: what is wrong, who talks how much to whom, how long it takes."""
    console = console_of(context)

    how = FollowOptions(follow=follow, checkpoint=checkpoint, every=every, once=once, lateness=lateness)
    follows = how.check(files, out, report, force=force, live=live)
    if not follows:
        _refuse(files, out, report, force)
    _needs_spark()
    bounds = span(since, until)
    here, elsewhere = ((), ()) if follows else _captures(files)
    order = _Order(
        master=master,
        partitions=partitions,
        topics=frozenset(topic or ()),
        out=out,
        force=force,
        charts=report is not None,
        elsewhere=elsewhere,
    )
    options = engine_options(frozenset(NAMES), clients=client, brokers=broker, topics=None, ports=port)
    if follows:
        task = Task(folder=files[0], out=out or "", options=options, **bounds)
        analysis = followed(task, how, order, console, quiet=form is AnalysisFormat.JSON)
        return _said(analysis, form, report, console, top, fail_on)
    reading = _reading(here, options, _places(live, host, project, console), bounds)
    analysis = _analyzed(reading, _size(here), order, console)
    return _said(analysis, form, report, console, top, fail_on)


def analysis_of(files: Sequence[str], places: AddressNames | None, console: Console) -> Analysis:
    """The findings of captures that lie on this machine, and how much they hold; no address is asked for them."""
    if any((":" in file and "//" in file) or file == "-" for file in files):
        raise InputError("is no file of this machine", where=files[0])
    _needs_spark()
    here, _ = _captures(list(files))
    options = engine_options(frozenset(NAMES), clients=None, brokers=None, topics=None, ports=None)
    order = _Order(
        elsewhere=(),
        master="local[*]",
        partitions=None,
        topics=frozenset(),
        out=None,
        force=False,
        charts=False,
        only=frozenset({"coverage"}),
    )
    reading = _reading(here, options, places, span(None, None))
    return _analyzed(reading, _size(here), order, console)


def _said(
    analysis: Analysis, form: AnalysisFormat, report: str | None, console: Console, top: int, fail_on: FailOn
) -> ExitStatus:
    if report is not None:
        write_report(report, analysis_page(analysis))
    is_json = form is AnalysisFormat.JSON
    write_text(analysis_json(analysis) if is_json else analysis_text(analysis, console.screen, top=top))
    return _status(analysis, Severity(fail_on.value))


def _captures(files: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The captures that lie here, and what only Spark can look for; InputError for what is no capture."""
    from netdiag.io.spark.elsewhere import is_elsewhere, plain

    here = [plain(file) for file in files if not is_elsewhere(file)]
    elsewhere = tuple(file for file in files if is_elsewhere(file))
    if elsewhere and not here:
        return (), elsewhere
    found = capture_files(here)
    native.check(found)
    return tuple(found), elsewhere


def _reading(here: tuple[str, ...], options: ReadOptions, places: AddressNames | None, bounds: Span) -> "Reading":
    from netdiag.io.spark.reading import Reading

    return Reading(
        paths=tuple(os.path.abspath(file) for file in here),
        names=here,
        options=replace(options, address_names=places) if places else options,
        **bounds,
    )


def _size(files: Sequence[str]) -> int:
    return sum(size_of(file) or 0 for file in files)


def _places(live: bool, host: str | None, project: str | None, console: Console) -> AddressNames | None:
    if live:
        from netdiag.cli.traffic_places import places_that_run  # loads the rules about listeners

        return places_that_run(host, project, console)
    if host or project:
        raise UsageError("--host and --project say what --live asks", hint="add --live")
    return None


def _refuse(files: list[str], out: str | None, report: str | None, force: bool) -> None:
    if "-" in files:
        raise UsageError("standard input can be read once only, and tasks share a capture", hint="name a file")
    if force and out is None and report is None:
        raise UsageError("--force goes with --out or --report")
    if report is not None:
        refuse_report(report, force=force)
    if out is None:
        return
    if os.path.lexists(out) and not force:
        raise UsageError("exists already", where=out, hint="name another folder, or use --force")
    if os.path.lexists(out) and not _is_ours(out):
        raise UsageError("is no folder of tables, and is not replaced", where=out, hint="name another folder")


def _is_ours(out: str) -> bool:
    """Whether a folder holds what we wrote, or nothing."""
    if os.path.islink(out) or not os.path.isdir(out):
        return False
    return set(os.listdir(out)) <= {*NAMES, _ANSWERS}


def _needs_spark() -> None:
    try:
        import netdiag.io.spark.session  # noqa: F401
    except ImportError as error:
        raise cannot_import("analyze", error, extra="spark") from error


def _analyzed(reading: "Reading", size: int, order: _Order, console: Console) -> Analysis:
    from netdiag.io.spark.analysis import Wanted, analysed
    from netdiag.io.spark.extraction import extract_here, opened
    from netdiag.io.spark.session import held_back, is_local, spark_session

    few = is_local(order.master) and not order.elsewhere and size < _LEAST and order.partitions in (None, 1)
    large = bool(order.elsewhere)
    folded = not order.topics and not order.charts
    with _folder(order) as folder, _progress(console), ThreadPoolExecutor(1) as beside:
        # What one task reads in no time is read while Java starts, and no Python of Spark's has to.
        with held_back():
            ahead = beside.submit(extract_here, reading, folder) if few else None
        console.progress("starting Spark")
        with spark_session(
            order.master,
            quick=size < (_FOLDED if folded else _LONG) and not large,
            small=size < (_FOLDED if folded else _SMALL) and not large,
            fixed_heap=size >= _LONG or large,
            partitions=1 if few else None,
        ) as spark:
            console.detail(f"Spark {spark.version} on {order.master}")
            if ahead is not None:
                made = opened(spark, ahead.result(), reading, folder, size=size)
            else:
                made = _extracted(spark, reading, folder, size, order, console)
            console.detail(f"{made.seen.packets:,} packets read")
            answers = os.path.join(folder, _ANSWERS) if order.out else None
            named = reading.options.address_names != NO_NAMES
            wanted = Wanted(topics=order.topics, out=answers, named=named, charts=order.charts, only=order.only)
            return analysed(made, wanted, console.progress)


def _extracted(spark: Any, reading: "Reading", folder: str, size: int, order: _Order, console: Console) -> "Extract":
    from netdiag.io.spark.cluster import await_executors, check_executors
    from netdiag.io.spark.elsewhere import bring, found_elsewhere
    from netdiag.io.spark.extraction import extract
    from netdiag.io.spark.session import is_local

    cores = os.cpu_count() or 1
    if not is_local(order.master):
        console.progress("waiting for executors")
        check_executors(spark, await_executors(spark, order.master), folder, reading.paths)
        cores = int(spark.sparkContext.defaultParallelism)
    if order.elsewhere:
        console.progress("fetching captures")
        brought = found_elsewhere(spark, order.elsewhere)
        bring(spark, brought)
        addresses = tuple(each.address for each in brought)
        reading = replace(reading, paths=reading.paths + addresses, names=reading.names + addresses)
        size += sum(each.size for each in brought)
    console.progress("reading")
    return extract(
        spark,
        reading,
        folder,
        tasks=order.partitions or min(cores, size // _LEAST + 1),
        size=size,
        tell=lambda share, packets: console.progress(f"reading: {share:.0%}, {packets:,} packets"),
    )


@contextmanager
def _progress(console: Console) -> Iterator[None]:
    try:
        yield
    finally:
        console.progress("")


@contextmanager
def _folder(order: _Order) -> Iterator[str]:
    """Where the tables are written: a folder beside the one that was named, which takes its name when all went well."""
    if order.out is None:
        with tempfile.TemporaryDirectory(prefix="netdiag-tables-") as folder:
            yield folder
        return
    out = Path(os.path.abspath(order.out))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=order.out) from error
    try:
        yield folder
        os.chmod(folder, 0o755)
        if order.force and out.is_dir():
            shutil.rmtree(out)
        os.rename(folder, out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _status(analysis: Analysis, fail_on: Severity) -> ExitStatus:
    if any(finding.severity.at_least(fail_on) for finding in analysis.findings):
        return ExitStatus.FINDINGS
    if not analysis.exchanges:
        say("netdiag: there is no Kafka in these captures that can be read")
        return ExitStatus.NOTHING_TO_CHECK
    return ExitStatus.CLEAN
