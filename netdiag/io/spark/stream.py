"""`spark.readStream.format("kafka_pcap")`: a folder that captures come into, as a stream of rows, for notebooks.

    register(spark)
    spark.readStream.format("kafka_pcap").option("state", "followed").load("captures")

Besides the options of `spark.read` (`level`, `columns`, `since`, `until`, `ports`, `clients`, `brokers`, `partitions`):
`state`, a folder of its own for what is under way, which goes with the stream's checkpoint (whoever begins one anew
begins the other anew); `lateness`, seconds by which a file may come late; `once`, true where nothing more will come.
A row comes when nothing can change it any more: an exchange with its answer, a connection with its end. What has no end
yet comes with `once` after the last file. Then the rows of all batches together are those of `spark.read`.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadMaxBytes

from netdiag.errors import InputError, NetdiagError, UsageError
from netdiag.io.follow.admission import BATCH_BYTES, LATENESS, Admission
from netdiag.io.follow.batch import Work, open_again, plan_of, step
from netdiag.io.follow.store import Store, settings_of, work_of
from netdiag.traffic.arrow import BATCH
from netdiag.traffic.tables import NAMES

if TYPE_CHECKING:
    import pyarrow as pa

    from netdiag.io.spark.reading import Reading

CLASSES = 2
# The process of a stream that was stopped takes a moment to go.
_PATIENCE = 20.0


@dataclass
class Share(InputPartition):
    """One task: a class of connections in a batch; without a plan, what is still under way behind it."""

    batch: int
    plan: str
    number: int


class CaptureStream(DataSourceStreamReader):
    """An offset is the number of a batch and its plan, and whether that was all."""

    def __init__(
        self,
        options: Mapping[str, str],
        reading: "Reading",
        level: str,
        names: tuple[str, ...],
        classes: int | None,
    ) -> None:
        if level not in NAMES:
            raise UsageError(f"level '{level}' cannot be streamed", hint=f"the levels are {', '.join(NAMES)}")
        if reading.options.topics:
            raise UsageError("a stream does not choose topics", hint="filter its rows")
        if len(reading.paths) != 1 or not Path(reading.paths[0]).is_dir():
            raise InputError(
                "is not a folder", where=", ".join(reading.paths), hint="load the folder that captures come to"
            )
        if not options.get("state"):
            raise UsageError("a stream needs a folder for its state", hint='add .option("state", folder)')
        state = Path(options["state"]).absolute()
        self._store = Store(checkpoint=state / "checkpoint", out=state / "rows")
        self._level, self._names = level, names
        self._once = options.get("once", "").lower() == "true"
        self._settings = {
            **settings_of(
                str(Path(reading.paths[0]).absolute()),
                reading.options,
                classes or CLASSES,
                _seconds(options.get("lateness")),
                since_ns=reading.since_ns,
                until_ns=reading.until_ns,
            ),
            "level": level,
        }
        self._admission: Admission | None = None
        self._held: ExitStack | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_admission": None, "_held": None}

    def initialOffset(self) -> dict[str, Any]:
        """Nothing was taken."""
        return {"batch": 0, "plan": "", "over": False}

    def getDefaultReadLimit(self) -> Any:
        """So many bytes in a batch."""
        return ReadMaxBytes(BATCH_BYTES)

    def latestOffset(self, start: dict[str, Any], limit: Any) -> dict[str, Any]:
        """The next batch; the same offset again where there is nothing new."""
        if start["over"]:
            return start
        self._begin()
        if self._admission is None:
            work, lateness = work_of(self._store)
            self._admission = Admission(work.folder, lateness=lateness, at_once=self._once)
        self._admission.most = getattr(limit, "maxBytes", 1 << 62)
        plan = self._admission.plan(self._store.catalogue(start["batch"]))
        if plan is not None:
            return {"batch": plan.batch, "plan": plan.text(), "over": False}
        return {**start, "plan": "", "over": True} if self._once and start["batch"] else start

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """A task for every class."""
        self._begin()
        if start == end:
            return []
        if not end["over"]:
            catalogue = self._store.catalogue(start["batch"])
            self._store.keep_catalogue(catalogue.after(plan_of(end["plan"])))
        classes = range(self._work().classes)
        return [Share(batch=end["batch"], plan=end["plan"], number=number) for number in classes]

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        """Do the batch for one class; the rows that are done with it."""
        assert isinstance(partition, Share)
        where = self._level, partition.batch, partition.number
        if partition.plan:
            step(self._work(), plan_of(partition.plan), partition.number)
            path = self._store.part(*where)
        else:
            open_again(self._work(), partition.batch, partition.number)
            path = self._store.open_part(*where)
        if path.exists():
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(BATCH, columns=list(self._names)):
                    yield batch.select(list(self._names))

    def commit(self, end: dict[str, Any]) -> None:
        """Spark has the rows for good."""
        self._store.drop_before(end["batch"])

    def _begin(self) -> None:
        """Make the folder ready, and have it alone for as long as this process is there."""
        if self._held is not None:
            return
        until = time.monotonic() + _PATIENCE
        while True:
            held = ExitStack()
            try:
                held.enter_context(self._store.locked())
                break
            except UsageError:
                raise
            except NetdiagError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
        self._store.begin(self._settings)
        self._held = held

    def _work(self) -> Work:
        work, _ = work_of(self._store)
        return replace(work, options=replace(work.options, tables=frozenset({self._level})))


def _seconds(text: str | None) -> float:
    if not text:
        return LATENESS
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 86_400:
        raise UsageError(f"lateness '{text}' is no number of seconds up to a day")
    return found
