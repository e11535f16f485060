"""Follow a folder that captures come into: each batch is taken once, and a later run goes on where one stopped."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from netdiag.app.analyze import LOCAL, require_spark
from netdiag.app.captures import CaptureQuery
from netdiag.app.progress import SILENT, Listener
from netdiag.errors import InputError
from netdiag.traffic.analysis import Analysis
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.io.spark.follow import Done

_EVERY, _EVERY_ONCE, _LATENESS = 10.0, 1.0, 2.0
_CHECKPOINT = ".checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowOptions:
    """Which folder to follow, and into which the tables go.

    `checkpoint` keeps the state (in `out` where it is not named), `every` is seconds between two looks, `once` takes
    what is there and stops, `lateness` is seconds by which a file may come late.
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
            return analysed(taken(spark, store), Wanted(topics=options.topics, charts=options.charts))


def _require_admission_control() -> None:
    try:
        import netdiag.io.spark.follow  # noqa: F401
    except ImportError as error:
        raise InputError("--follow needs pyspark 4.2 or newer", hint="pip install -U 'pyspark>=4.2'") from error
