"""Analyze captures of any size with Spark: findings first, then the figures, on demand with all tables kept.

`follow` takes a folder that captures come into: each batch once, and a later run goes on where one stopped.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from netdiag.app.captures import CaptureQuery
from netdiag.app.progress import SILENT, Listener
from netdiag.app.storage import INSIDE_ENGINE, StorageQuery, open_storage
from netdiag.errors import InputError, NetdiagError, UsageError, cannot_import
from netdiag.io.files.captures import capture_files, size_of
from netdiag.kafka.storage import DataDirectory
from netdiag.traffic import native
from netdiag.traffic.analysis import Analysis
from netdiag.traffic.native import NO_NAMES
from netdiag.traffic.tables import NAMES, TOGETHER
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.io.spark.extraction import Extract
    from netdiag.io.spark.reading import Progress, Reading

# Java takes its time to make fast what runs long: worth it from here on, where whole tables are asked.
_LONG = 1_000_000_000
# So is the code that Spark writes for every question: 94 MB took 62 s with it, 54 s without.
_SMALL = 200_000_000
# A task that reads less than this is not worth its start.
_LEAST = 4_000_000
_ANSWERS = "answers"
# The mark of a page of ours is in its first bytes.
_PAGE_HEAD = 4096
LOCAL = "local[*]"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzeOptions:
    """What to analyze, and with which Spark.

    `topics`: only what names them. `out` is a folder for all tables, which `force` replaces. `charts` asks for what a
    report draws; `only` are the names of the answers that are wanted, empty for all. `storage`: the data directories of
    brokers that captures are joined with, as `StorageQuery` names them.
    """

    query: CaptureQuery
    master: str = LOCAL
    partitions: int | None = None
    topics: frozenset[str] = frozenset()
    out: str | None = None
    force: bool = False
    charts: bool = False
    only: frozenset[str] = frozenset()
    storage: StorageQuery | None = None


def analyze(options: AnalyzeOptions, listener: Listener = SILENT) -> Analysis:
    """The findings and figures of captures; InputError for what is no capture, UsageError for what is not replaced."""
    if "-" in options.query.files:
        raise UsageError("several tasks read a capture, which standard input does not allow", hint="name a file")
    if options.out is not None:
        _refuse_folder(options.out, force=options.force)
    require_spark()
    if options.storage is not None:
        _refuse_storage(options.storage, options.master)
    here, elsewhere = _captures(options.query.files)
    size = sum(size_of(file) or 0 for file in here)
    with ExitStack() as stack:
        storage = open_storage(options.storage, stack) if options.storage is not None else ()
        return _analyzed(_reading(here, options.query), size, elsewhere, options, storage, listener)


def analyze_here(query: CaptureQuery, listener: Listener = SILENT) -> Analysis:
    """The findings of captures on this machine, and how much they hold; no address is asked for them."""
    if any((":" in file and "//" in file) or file == "-" for file in query.files):
        raise InputError("is not a file on this machine", where=query.files[0])
    return analyze(AnalyzeOptions(query=query, only=frozenset({"coverage"})), listener)


def refuse_report(path: str, *, force: bool) -> None:
    """UsageError where something is that is not to be replaced, MissingExtra where nothing can be drawn."""
    from netdiag.render.analysis.page import GENERATOR

    if os.path.lexists(path):
        if not force:
            raise UsageError("exists already", where=path, hint="name another file, or use --force")
        if os.path.islink(path) or not os.path.isfile(path) or GENERATOR.encode() not in _head(path):
            raise UsageError("was not written by netdiag and is not replaced", where=path, hint="name another file")
    try:
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise cannot_import("--report", error, extra="report") from error


def write_report(path: str, analysis: Analysis) -> None:
    """The analysis as one page, there only when it is whole."""
    from netdiag.io.files import write_file
    from netdiag.render.analysis.page import analysis_page

    try:
        Path(os.path.abspath(path)).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=path) from error
    write_file(path, analysis_page(analysis).encode())


def _refuse_storage(storage: StorageQuery, master: str) -> None:
    """UsageError for what only this machine can read, where others read."""
    from netdiag.io.spark.session import is_local

    far = [name for name in storage.names if name.startswith(INSIDE_ENGINE)]
    if far and not is_local(master):
        raise UsageError("executors cannot read it", where=far[0], hint="name a directory that all machines share")


def require_spark() -> None:
    """MissingExtra instead of an import error."""
    try:
        import netdiag.io.spark.session  # noqa: F401
    except ImportError as error:
        raise cannot_import("analyze", error, extra="spark") from error


def _captures(files: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The captures that lie here, and what only Spark can look for; InputError for what is no capture."""
    from netdiag.io.spark.hadoop_files import is_on_hadoop, plain

    here = [plain(file) for file in files if not is_on_hadoop(file)]
    elsewhere = tuple(file for file in files if is_on_hadoop(file))
    if elsewhere and not here:
        return (), elsewhere
    found = capture_files(here)
    native.check(found)
    return tuple(found), elsewhere


def _reading(here: tuple[str, ...], query: CaptureQuery) -> "Reading":
    from netdiag.io.spark.reading import Reading

    return Reading(
        paths=tuple(os.path.abspath(file) for file in here),
        names=here,
        options=query.rows,
        since_ns=query.since_ns,
        until_ns=query.until_ns,
    )


def _refuse_folder(out: str, *, force: bool) -> None:
    if os.path.lexists(out) and not force:
        raise UsageError("exists already", where=out, hint="name another folder, or use --force")
    if os.path.lexists(out) and not _is_ours(out):
        raise UsageError("is not a folder of tables and is not replaced", where=out, hint="name another folder")


def _is_ours(out: str) -> bool:
    """Whether a folder holds what we wrote, or nothing."""
    if os.path.islink(out) or not os.path.isdir(out):
        return False
    return set(os.listdir(out)) <= {*NAMES, _ANSWERS}


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(_PAGE_HEAD)


def _analyzed(
    reading: "Reading",
    size: int,
    elsewhere: tuple[str, ...],
    options: AnalyzeOptions,
    storage: tuple[DataDirectory, ...],
    listener: Listener,
) -> Analysis:
    """`elsewhere` are captures that Spark has to look for."""
    from netdiag.io.spark.analysis import Wanted, analysed
    from netdiag.io.spark.extraction import extract_here, opened
    from netdiag.io.spark.session import is_local, signals_deferred, spark_session
    from netdiag.traffic.folds import Selection, pieces_of

    large = bool(elsewhere)
    folds = not options.topics and not options.charts and not storage
    tables = frozenset(NAMES) - frozenset(TOGETHER if folds and options.out is None else ())
    selection = Selection() if folds else None
    pieces = pieces_of(Wanted(only=options.only).folds)
    reading = replace(reading, folds=selection, pieces=pieces, options=replace(reading.options, tables=tables))
    # In this process, while Java starts: what is folded while it is read, and what one task reads in no time.
    one = options.partitions in (None, 1)
    here = is_local(options.master) and not elsewhere and one and (folds or size < _LEAST)
    with (
        _folder(options) as folder,
        _progress_ended(listener),
        ThreadPoolExecutor(1) as beside,
        _given_up() as is_given_up,
    ):

        def tell(progress: "Progress") -> None:
            if is_given_up.is_set():
                raise NetdiagError("reading was given up")
            if size >= _LEAST:
                share = min(1.0, progress.read / size)
                listener.progress(f"reading: {share:.0%}, {progress.packets:,} packets")

        with signals_deferred():
            ahead = beside.submit(extract_here, reading, folder, tell) if here else None
        listener.progress("starting Spark")
        with spark_session(
            options.master,
            # Folded tables are small: 3.3 GB took 65 s with the code and the long compiler, 51 s without.
            quick=(folds or size < _LONG) and not large,
            small=(folds or size < _SMALL) and not large,
            partitions=1 if here else None,
        ) as spark:
            listener.detail(f"Spark {spark.version} on {options.master}")
            if ahead is not None:
                made = opened(spark, ahead.result(), reading, folder, size=size)
            else:
                made = _extracted(spark, reading, folder, size, elsewhere, options, listener)
            listener.detail(f"{made.seen.packets:,} packets read")
            wanted = Wanted(
                topics=options.topics,
                out=os.path.join(folder, _ANSWERS) if options.out else None,
                named=reading.options.address_names != NO_NAMES,
                charts=options.charts,
                only=options.only,
                storage=storage,
            )
            return analysed(made, wanted, listener.progress)


def _extracted(
    spark: Any,
    reading: "Reading",
    folder: str,
    size: int,
    elsewhere: tuple[str, ...],
    options: AnalyzeOptions,
    listener: Listener,
) -> "Extract":
    from netdiag.io.spark.cluster import await_executors, check_executors
    from netdiag.io.spark.extraction import extract
    from netdiag.io.spark.hadoop_files import bring, found_on_hadoop
    from netdiag.io.spark.session import is_local

    cores = os.cpu_count() or 1
    if not is_local(options.master):
        listener.progress("waiting for executors")
        check_executors(spark, await_executors(spark, options.master), folder, reading.paths)
        cores = int(spark.sparkContext.defaultParallelism)
    if elsewhere:
        listener.progress("fetching captures")
        brought = found_on_hadoop(spark, elsewhere)
        bring(spark, brought)
        addresses = tuple(each.address for each in brought)
        reading = replace(reading, paths=reading.paths + addresses, names=reading.names + addresses)
        size += sum(each.size for each in brought)
    listener.progress("reading")
    return extract(
        spark,
        reading,
        folder,
        tasks=options.partitions or min(cores, size // _LEAST + 1),
        size=size,
        tell=lambda share, packets: listener.progress(f"reading: {share:.0%}, {packets:,} packets"),
    )


@contextmanager
def _given_up() -> Iterator[Event]:
    """Set when the block ends, be it early: who reads beside it has to stop then."""
    event = Event()
    try:
        yield event
    finally:
        event.set()


@contextmanager
def _progress_ended(listener: Listener) -> Iterator[None]:
    try:
        yield
    finally:
        listener.progress("")


@contextmanager
def _folder(options: AnalyzeOptions) -> Iterator[str]:
    """Where the tables are written: a folder beside the one that was named, which takes its name when all went well."""
    if options.out is None:
        with tempfile.TemporaryDirectory(prefix="netdiag-tables-") as folder:
            yield folder
        return
    out = Path(os.path.abspath(options.out))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=options.out) from error
    try:
        yield folder
        os.chmod(folder, 0o755)
        if options.force and out.is_dir():
            shutil.rmtree(out)
        os.rename(folder, out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if TYPE_CHECKING:
    from netdiag.io.spark.follow import Done

_EVERY, _EVERY_ONCE, _LATENESS = 10.0, 1.0, 2.0
_CHECKPOINT = ".checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowOptions:
    """Which folder to follow, and into which the tables go.

    `checkpoint` keeps the state (in `out` where it is not named), `every` is seconds between two looks, `once` takes
    what is there and stops, `lateness` is seconds by which a file may come late, `only` as `AnalyzeOptions` has it.
    """

    query: CaptureQuery
    out: str
    checkpoint: str | None = None
    every: float | None = None
    once: bool = False
    lateness: float | None = None
    master: str = LOCAL
    partitions: int | None = None
    topics: frozenset[str] = frozenset()
    charts: bool = False
    only: frozenset[str] = frozenset()


def follow(options: FollowOptions, batch_done: "Callable[[Done], None]", listener: Listener = SILENT) -> Analysis:
    """Follow until interrupted, or with `once` to the end; then the analysis of all of it."""
    require_spark()
    _require_admission_control()
    from netdiag.io.follow.store import Store, settings_of
    from netdiag.io.spark.analysis import Wanted, analysed
    from netdiag.io.spark.follow import Following, taken
    from netdiag.io.spark.follow import follow as follow_folder
    from netdiag.io.spark.session import spark_session

    query, out = options.query, Path(os.path.abspath(options.out))
    if os.path.realpath(query.files[0]) == os.path.realpath(out):
        raise UsageError("the tables cannot go into the folder that is followed", hint="give --out another folder")
    checkpoint = Path(os.path.abspath(options.checkpoint)) if options.checkpoint else out / _CHECKPOINT
    store = Store(checkpoint=checkpoint, out=out)
    with store.locked():
        known = store.settings() or {}
        classes = options.partitions or int(known.get("classes", min(4, os.cpu_count() or 1)))
        lateness = float(known.get("lateness", _LATENESS)) if options.lateness is None else options.lateness
        store.begin(
            settings_of(
                os.path.abspath(query.files[0]),
                query.rows,
                classes,
                lateness,
                since_ns=query.since_ns,
                until_ns=query.until_ns,
            )
        )
        listener.detail(f"the state is kept in '{checkpoint}'")
        with spark_session(options.master, quick=options.once) as spark:
            listener.detail(f"Spark {spark.version} on {options.master}, {classes} tasks")
            every = options.every or (_EVERY_ONCE if options.once else _EVERY)
            follow_folder(
                spark, Following(store=store, every=every, once=options.once, topics=options.topics), batch_done
            )
            return analysed(
                taken(spark, store), Wanted(topics=options.topics, charts=options.charts, only=options.only)
            )


def _require_admission_control() -> None:
    try:
        import netdiag.io.spark.follow  # noqa: F401
    except ImportError as error:
        raise InputError("--follow needs pyspark 4.2 or newer", hint="pip install -U 'pyspark>=4.2'") from error
