"""`netdiag analyze --follow`: what a folder of captures says while it fills, a line for every batch that was taken."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from netdiag.cli.console import Console, say, write_text
from netdiag.cli.report_file import refuse_report
from netdiag.errors import InputError, UsageError
from netdiag.render.findings.places import place_text
from netdiag.traffic.analysis import Analysis
from netdiag.traffic.native import ReadOptions

if TYPE_CHECKING:
    from netdiag.io.spark.follow import Done

Follow = Annotated[
    bool, typer.Option("--follow", help="Take captures as they come into a folder, and go on where it stopped.")
]
Checkpoint = Annotated[
    str | None, typer.Option("--checkpoint", metavar="DIR", help="Where --follow keeps its state (OUT/.checkpoint).")
]
Every = Annotated[
    float | None, typer.Option("--every", min=0.1, max=86_400, help="Seconds between two looks of --follow (10).")
]
Once = Annotated[bool, typer.Option("--once", help="With --follow: take what is there, say what it says, and stop.")]
Lateness = Annotated[
    float | None,
    typer.Option("--lateness", min=0, max=86_400, help="Seconds by which a file of --follow may come late (2)."),
]

_EVERY, _LATENESS = 10.0, 2.0
_DAY = 86_400
_CHECKPOINT = ".checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowOptions:
    """What was said about following."""

    follow: bool
    checkpoint: str | None
    every: float | None
    once: bool
    lateness: float | None

    def check(self, files: list[str], out: str | None, report: str | None, *, force: bool, live: bool) -> bool:
        """Whether to follow; UsageError where options do not go together."""
        if not self.follow:
            only = {
                "--checkpoint": self.checkpoint is not None,
                "--every": self.every is not None,
                "--once": self.once,
                "--lateness": self.lateness is not None,
            }
            for name, given in only.items():
                if given:
                    raise UsageError(f"{name} goes with --follow")
            return False
        if len(files) != 1 or files[0] == "-":
            raise UsageError("--follow takes one folder")
        if not os.path.isdir(files[0]):
            raise InputError("is no folder", where=files[0], hint="--follow takes the folder that captures come into")
        if out is None:
            raise UsageError("--follow needs a folder for the tables", hint="add --out DIR")
        if report is not None:
            if not self.once:
                raise UsageError("--report tells of a whole that --follow has with --once only", hint="add --once")
            refuse_report(report, force=False)
        if force:
            raise UsageError("--force replaces tables and --follow adds to them", hint="leave one of them out")
        if live:
            raise UsageError("--live tells what runs now, and --follow outlives it", hint="leave one of them out")
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is followed, and how."""

    folder: str
    out: str
    options: ReadOptions
    since_ns: int | None
    until_ns: int | None


class Order(Protocol):
    """What was asked for besides."""

    @property
    def master(self) -> str: ...

    @property
    def partitions(self) -> int | None: ...

    @property
    def charts(self) -> bool: ...

    @property
    def topics(self) -> frozenset[str]: ...


def followed(task: Task, how: FollowOptions, order: Order, console: Console, *, quiet: bool) -> Analysis:
    """Follow until interrupted, or with --once to the end; then what there is to say about all of it."""
    _needs_admission_control()
    from netdiag.io.follow.settings import settings_of
    from netdiag.io.follow.store import Store
    from netdiag.io.spark.analysis import Wanted, analysed
    from netdiag.io.spark.follow import Following, follow, taken
    from netdiag.io.spark.session import spark_session

    out = Path(os.path.abspath(task.out))
    checkpoint = Path(os.path.abspath(how.checkpoint)) if how.checkpoint else out / _CHECKPOINT
    store = Store(checkpoint=checkpoint, out=out)
    with store.locked():
        known = store.settings() or {}
        classes = order.partitions or int(known.get("classes", min(4, os.cpu_count() or 1)))
        lateness = how.lateness if how.lateness is not None else float(known.get("lateness", _LATENESS))
        bounds = {"since_ns": task.since_ns, "until_ns": task.until_ns}
        store.begin(settings_of(os.path.abspath(task.folder), task.options, classes, lateness, **bounds))
        console.detail(f"the state is kept in '{checkpoint}'")
        lines = _Lines(console, quiet=quiet)
        with spark_session(order.master, quick=how.once) as spark:
            console.detail(f"Spark {spark.version} on {order.master}, {classes} tasks")
            every = how.every or (1.0 if how.once else _EVERY)
            follow(spark, Following(store=store, every=every, once=how.once, topics=order.topics), lines.tell)
            return analysed(taken(spark, store), Wanted(topics=order.topics, charts=order.charts))


def _needs_admission_control() -> None:
    try:
        import netdiag.io.spark.follow  # noqa: F401
    except ImportError as error:
        raise InputError("--follow needs pyspark 4.2 or newer", hint="pip install -U 'pyspark>=4.2'") from error


class _Lines:
    """A line for every batch."""

    def __init__(self, console: Console, *, quiet: bool) -> None:
        self._screen = console.screen
        self._quiet = quiet
        self._before = (0, 0)

    def tell(self, done: "Done") -> None:
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
        if self._quiet:
            say(line)
        else:
            write_text(f"{line}\n")
