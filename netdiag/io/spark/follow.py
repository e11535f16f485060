"""Following a folder of captures with Structured Streaming: exactly once, whenever it is killed.

Spark's source gives no rows of captures but a line of account for every class of connections and batch; the rows go
straight to Parquet, see `io.follow.batch`. An offset holds the plan of its batch, so Spark's log of offsets, which is
written before a batch is begun, says what a batch that was cut short has to do again: from the state behind the batch
before, into files of the same names. The batch is over when what it would be without more has its place, too.
"""

import dataclasses
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadMaxBytes
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from netdiag.errors import NetdiagError
from netdiag.findings import Finding
from netdiag.io.follow.admission import BATCH_BYTES, Admission
from netdiag.io.follow.batch import Plan, plan_of, step
from netdiag.io.follow.store import SPARK, Store, work_of
from netdiag.io.spark.analysis import findings, said_once
from netdiag.io.spark.extraction import Extract, with_tables
from netdiag.io.spark.session import translated_errors
from netdiag.traffic.analysis import Seen
from netdiag.traffic.tables import NAMES

FORMAT = "kafka_pcap_follow"
_LOOK_EVERY = 0.1
# Spark gives a Python process of a stream ten seconds to start, which may be too few on a busy machine.
_LATE, _TRIES = "Python worker failed to connect back", 3
# Looking for what is wrong takes at most one part in so many of the time.
_SHARE = 4


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A batch that is over: what it took, what there is all in all, and which findings are new."""

    plan: Plan
    packets: int
    exchanges: int
    last: int | None
    found: tuple[Finding, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """`once`: only what is there now. `topics`: findings about these only; the tables hold all."""

    store: Store
    every: float
    once: bool
    topics: frozenset[str] = frozenset()


def follow(spark: SparkSession, following: Following, tell: Callable[[Done], None]) -> None:
    """Take what comes, until nothing is left with `once`, else until interrupted; `tell` hears of each batch."""
    spark.dataSource.register(FollowSource)
    batches = _Batches(following, tell)
    with translated_errors():
        try:
            for tries_left in reversed(range(_TRIES)):
                try:
                    _stream(spark, following, batches)
                except PySparkException as error:
                    if not tries_left or _LATE not in str(error):
                        raise
                else:
                    return
        finally:
            batches.close()


def _stream(spark: SparkSession, following: Following, batches: "_Batches") -> None:
    """One run of the stream, from where the checkpoint is."""
    store = following.store
    frame = (
        spark.readStream.format(FORMAT)
        .option("checkpoint", str(store.checkpoint))
        .option("out", str(store.out))
        .option("once", str(following.once))
        .load()
    )
    writer = frame.writeStream.foreachBatch(batches.over)
    writer = writer.option("checkpointLocation", (store.checkpoint / SPARK).as_uri())
    query = writer.trigger(processingTime=f"{max(1, round(following.every * 1000))} milliseconds").start()
    try:
        _wait(query, following)
    finally:
        query.stop()


def _wait(query: StreamingQuery, following: Following) -> None:
    """Until it is over. What waits for Java stands beside, so that an interruption does not meet a call."""
    with ThreadPoolExecutor(1) as beside:
        waiting = beside.submit(query.processAllAvailable if following.once else query.awaitTermination)
        try:
            while not waiting.done():
                time.sleep(_LOOK_EVERY)
        except (KeyboardInterrupt, SystemExit):
            query.stop()
            raise
        waiting.result()


def taken(spark: SparkSession, store: Store) -> Extract:
    """The tables as they are, with what was read for them."""
    work, _ = work_of(store)
    batch, tallies = store.committed()
    catalogue = store.catalogue(batch)
    times = [time for tally in tallies for time in (tally["first"], tally["last"]) if time is not None]
    found = Extract(
        tables={},
        rows={name: sum(tally["rows"].get(name, 0) for tally in tallies) for name in NAMES},
        seen=Seen(
            files=tuple(str(Path(work.folder, file.name)) for file in catalogue.files),
            bytes=sum(file.taken for file in catalogue.files),
            packets=max((tally["packets"] for tally in tallies), default=0),
            first=min(times, default=None),
            last=max(times, default=None),
        ),
    )
    return with_tables(spark, found, str(store.out))


class _Batches:
    """Ends batches; Spark calls it on the driver, one batch after the other."""

    def __init__(self, following: Following, tell: Callable[[Done], None]) -> None:
        self._following = following
        self._work, _ = work_of(following.store)
        self._tell = tell
        self._ending = threading.Lock()
        self._is_closed = False
        self._known: set[tuple[str, str, str]] = set()
        self._looked_at: dict[str, int] = {}
        self._rest_until = 0.0

    def over(self, frame: DataFrame, number: int) -> None:
        """All classes have done a batch."""
        del number
        accounts = [json.loads(row["account"]) for row in frame.collect()]
        if not accounts:
            return
        plan = plan_of(accounts[0]["plan"])
        if sorted(account["class"] for account in accounts) != list(range(self._work.classes)):
            raise NetdiagError("a part of the batch is missing", where=str(self._following.store.out))
        with self._ending:
            if self._is_closed:
                raise NetdiagError("is stopped", where=str(self._following.store.out))
            self._following.store.commit(plan.batch, self._work.classes, accounts)
        rows = {name: sum(account["rows"].get(name, 0) for account in accounts) for name in NAMES}
        lasts = [account["last"] for account in accounts if account["last"] is not None]
        self._tell(
            Done(
                plan=plan,
                packets=max(account["packets"] for account in accounts),
                exchanges=rows["exchanges"],
                last=max(lasts, default=None),
                found=self._found(frame.sparkSession, rows),
            )
        )

    def close(self) -> None:
        """No batch ends any more; wait for one that is about to. Spark does not, and the process may end."""
        with self._ending:
            self._is_closed = True

    def _found(self, spark: SparkSession, rows: Mapping[str, int]) -> tuple[Finding, ...]:
        """The findings that were not there before."""
        if self._following.once or rows == self._looked_at or time.monotonic() < self._rest_until:
            return ()
        self._looked_at = dict(rows)
        began = time.monotonic()
        with said_once(taken(spark, self._following.store), self._following.topics) as tables:
            found = findings(tables, rows)
        fresh = []
        for finding in found:
            # Its figures grow.
            key = (finding.rule, str(finding.location), re.sub(r"\d+", "", finding.message))
            if key not in self._known:
                self._known.add(key)
                fresh.append(finding)
        self._rest_until = time.monotonic() + _SHARE * (time.monotonic() - began)
        return tuple(fresh)


@dataclasses.dataclass
class Share(InputPartition):
    """One task: a class of connections in a batch."""

    plan: str
    number: int


class FollowSource(DataSource):
    """The source of the stream; its options are the two folders."""

    @classmethod
    def name(cls) -> str:
        """As `format` names it."""
        return FORMAT

    def schema(self) -> str:
        """A line of account."""
        return "account string"

    def streamReader(self, schema: StructType) -> "FollowReader":
        """Plans batches and carries them out."""
        del schema
        return FollowReader(self.options)


class FollowReader(DataSourceStreamReader):
    """An offset is the number of a batch and its plan."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._store = Store(checkpoint=Path(options["checkpoint"]), out=Path(options["out"]))
        self._once = options["once"] == "True"
        self._admission: Admission | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_admission": None}

    def initialOffset(self) -> dict[str, Any]:
        """Nothing was taken."""
        return {"batch": 0, "plan": ""}

    def getDefaultReadLimit(self) -> Any:
        """So many bytes in a batch."""
        return ReadMaxBytes(BATCH_BYTES)

    def latestOffset(self, start: dict[str, Any], limit: Any) -> dict[str, Any]:
        """The next batch; the same offset again where there is nothing new."""
        if self._admission is None:
            work, lateness = work_of(self._store)
            self._admission = Admission(work.folder, lateness=lateness, at_once=self._once)
        self._admission.most = getattr(limit, "maxBytes", 1 << 62)
        plan = self._admission.plan(self._store.catalogue(start["batch"]))
        return start if plan is None else {"batch": plan.batch, "plan": plan.text()}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """A task for every class."""
        if start["batch"] == end["batch"]:
            return []
        work, _ = work_of(self._store)
        self._store.keep_catalogue(self._store.catalogue(start["batch"]).after(plan_of(end["plan"])))
        return [Share(plan=end["plan"], number=number) for number in range(work.classes)]

    def read(self, partition: InputPartition) -> Iterator[tuple[str]]:
        """Do the batch for one class."""
        assert isinstance(partition, Share)
        work, _ = work_of(self._store)
        account = step(work, plan_of(partition.plan), partition.number)
        yield (json.dumps({**account, "plan": partition.plan}),)
