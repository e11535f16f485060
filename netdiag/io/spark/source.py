"""`spark.read.format("kafka_pcap")`: captures as DataFrames, for notebooks; `kafka_storage`: what brokers have stored.

    register(spark)
    spark.read.format("kafka_pcap").option("level", "connections").load(["a.pcap", "folder"])
    spark.read.format("kafka_storage").option("level", "log_batches").load("/var/lib/kafka/data")

Options of captures: `level` (a table of docs/tables.md, exchanges by default), `columns` (comma-separated;
`.schema(...)` does the same), `since` and `until`, `ports`, `clients`, `brokers`, `topics` (comma-separated),
`partitions` (how many tasks).
`latencies` are partial sums, see netdiag.traffic.latencies: `percentiles(frame)`.
Filters that Spark hands over (spark.sql.python.filterPushdown.enabled) are hints: rows are filtered by Spark again, and
only what cannot change a row is left unread. An exchange that began before a time may end long after it, so an upper
bound has a margin, and a lower bound counts for packets and segments only: what a connection is, its beginning says.

Options of data directories: `level` (log_batches by default), `columns`, `topics`, `partitions`. Keys and values stay
where they are, but for those of internal topics, which `stored_records` decodes. Tasks share the files, so every
executor has to see them; for `committed_offsets`, one task reads all files of a partition.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    InputPartition,
    LessThan,
    LessThanOrEqual,
    StringEndsWith,
)
from pyspark.sql.types import StructType

from netdiag.digits import number_of
from netdiag.errors import InputError, UsageError
from netdiag.io.files.captures import capture_files, size_of
from netdiag.io.files.data_directory import read_data_directory
from netdiag.io.files.log_files import log_files
from netdiag.io.files.log_problems import log_problems
from netdiag.io.files.stored_state import commit_cells, decoded_records, made_batches, state_of
from netdiag.io.spark.reading import Reading, read_batches, read_latencies
from netdiag.kafka.stored_records import OFFSETS_TOPIC
from netdiag.traffic import native
from netdiag.traffic.aggregates.expressions import struct_of
from netdiag.traffic.native import LogFile, ReadOptions, parse_time
from netdiag.traffic.tables import LOG_NAMES, NAMES, PARTIAL_NAMES, RAW_NAMES, STORED_NAMES, Table, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from netdiag.io.spark.stream import CaptureStream

FORMAT, STORAGE_FORMAT = "kafka_pcap", "kafka_storage"
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
LEVELS = NAMES + PARTIAL_NAMES + RAW_NAMES
_LEVELS: Mapping[str, Sequence[str]] = {FORMAT: LEVELS, STORAGE_FORMAT: LOG_NAMES + STORED_NAMES}
_FIRST_LEVEL = {FORMAT: "exchanges", STORAGE_FORMAT: "log_batches"}
# A task that reads less than this is not worth its start.
_LEAST_BYTES = 4 * 1024 * 1024
_MICROSECOND = 1000
# So long after a request its answer may come: the longest rebalance that clients allow by default is five minutes.
MARGIN_NS = 600 * 1_000_000_000
# Tables whose `time` is that of a request or question.
_ASKED_AT = frozenset({"exchanges", "partitions", "batches", "group_events", "names"})
_NAMES_A_BROKER = frozenset({"exchanges", "group_events", "endpoints", "connections"})


def register(spark: "SparkSession") -> None:
    """Let this session read both formats; set spark.sql.python.filterPushdown.enabled before, not after."""
    pushes = str(spark.conf.get(PUSHDOWN, "false")).lower() == "true"
    spark.dataSource.register(PushingCaptureSource if pushes else CaptureSource)
    spark.dataSource.register(StorageSource)


@dataclass
class Share(InputPartition):
    """One task: its class of connections, of so many."""

    number: int
    of: int


class CaptureSource(DataSource):
    """The format; Spark makes one for every DataFrame."""

    @classmethod
    def name(cls) -> str:
        """As `format` names it."""
        return FORMAT

    def schema(self) -> StructType:
        """All columns of the level, or those of the option `columns`."""
        return struct_of(_level(self.options), _columns(self.options))

    def reader(self, schema: StructType) -> "CaptureReader":
        """A reader of the columns that are in the schema, which is ours or the user's."""
        return CaptureReader(self.options, schema)

    def streamReader(self, schema: StructType) -> "CaptureStream":
        """The same of a folder that captures come into, see `stream`."""
        try:
            from netdiag.io.spark.stream import CaptureStream  # needs a newer pyspark than the rest
        except ImportError as error:
            raise InputError("streams need pyspark 4.2 or newer", hint="pip install -U 'pyspark>=4.2'") from error

        level = _level(self.options)
        reading, names = _reading(self.options, level.name), _checked(level, schema)
        return CaptureStream(self.options, reading, level.name, names, _number(self.options, "partitions"))


class CaptureReader(DataSourceReader):
    """Reads the rows of one level."""

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        self._table = _level(options)
        self._names = _checked(self._table, schema)
        self._reading = _reading(options, self._table.name)
        self._tasks = _number(options, "partitions")

    def partitions(self) -> list[InputPartition]:
        """One task for every class of connections; the files are looked for once, for all of them."""
        files = capture_files(self._reading.paths)
        native.check(files)
        self._reading = replace(self._reading, paths=tuple(files))
        worth = sum(size_of(file) or 0 for file in files) // _LEAST_BYTES + 1
        tasks = self._tasks or min(os.cpu_count() or 1, worth)
        return [Share(number, tasks) for number in range(tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one class."""
        assert isinstance(partition, Share)
        name = self._table.name
        reading = self._reading.share(partition.number, partition.of)
        if name in PARTIAL_NAMES:
            for batch in read_latencies(reading):
                yield batch.select(list(self._names))
        else:
            for ready in read_batches(reading, {name: self._names}):
                yield from ready.get(name, ())


class PushingCaptureSource(CaptureSource):
    """The format where Spark hands filters over; where it does not, it refuses a reader that would take them."""

    def reader(self, schema: StructType) -> "CaptureReader":
        """A reader that is told of filters."""
        return PushingCaptureReader(self.options, schema)


class PushingCaptureReader(CaptureReader):
    """Reads less where filters allow it."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Read less where that changes no row; Spark filters again, so all filters are given back."""
        for each in filters:
            self._reading = narrowed(self._reading, self._table.name, each)
        return filters


@dataclass
class LogShare(InputPartition):
    """One task: some files of logs."""

    files: tuple[LogFile, ...]


class StorageSource(DataSource):
    """The format of data directories."""

    @classmethod
    def name(cls) -> str:
        """As `format` names it."""
        return STORAGE_FORMAT

    def schema(self) -> StructType:
        """All columns of the level, or those of the option `columns`."""
        return struct_of(_level(self.options, STORAGE_FORMAT), _columns(self.options, STORAGE_FORMAT))

    def reader(self, schema: StructType) -> "StorageReader":
        """A reader of the columns that are in the schema."""
        return StorageReader(self.options, schema)


class StorageReader(DataSourceReader):
    """Reads the rows of one level."""

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        level = _level(options, STORAGE_FORMAT)
        self._level = level.name
        self._names = _checked(level, schema)
        self._paths = _paths(options, "data directories")
        self._topics = frozenset(_listed(options, "topics"))
        self._tasks = _number(options, "partitions")

    def partitions(self) -> Sequence[InputPartition]:
        """Tasks with about as many bytes each; names of files say which directory, where there are several."""
        prefixes = self._paths if len(self._paths) > 1 else ("",)
        directories = [read_data_directory(path) for path in self._paths]
        files = [
            file
            for one, prefix in zip(directories, prefixes, strict=True)
            for file in log_files(one, self._topics, prefix)
        ]
        # What a group committed last is in the last of several segments.
        keeps_together = self._level == "committed_offsets"
        together: dict[str, list[LogFile]] = {}
        for file in files:
            if not keeps_together or (file.topic == OFFSETS_TOPIC and not file.path.endswith(".snapshot")):
                together.setdefault(os.path.dirname(file.path) if keeps_together else file.path, []).append(file)
        sizes = {name: sum(size_of(file.path) or 0 for file in some) for name, some in together.items()}
        tasks = self._tasks or min(os.cpu_count() or 1, sum(sizes.values()) // _LEAST_BYTES + 1)
        shares: list[list[LogFile]] = [[] for _ in range(tasks)]
        held = [0] * tasks
        for name in sorted(sizes, key=lambda name: sizes[name], reverse=True):
            least = held.index(min(held))
            shares[least] += together[name]
            held[least] += sizes[name]
        return [LogShare(tuple(share)) for share in shares]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of some files."""
        assert isinstance(partition, LogShare)
        for batch in self._batches(partition.files):
            yield pa.record_batch(batch)

    def _batches(self, files: Sequence[LogFile]) -> Iterator[native.Batch]:
        if self._level == "stored_records":
            yield from made_batches(self._level, (record.cells for record in decoded_records(files)), self._names)
        elif self._level == "committed_offsets":
            for folder, some in groupby(files, lambda file: os.path.dirname(file.path)):
                state = state_of(some)
                if state.is_cut:
                    raise InputError("has more records than netdiag keeps", where=folder)
                yield from made_batches(self._level, map(commit_cells, state.commits), self._names)
        elif self._level == "log_problems":
            yield from log_problems(files, self._names)
        else:
            for ready in native.read_logs(files, {self._level: self._names}):
                yield from ready.get(self._level, ())


def narrowed(reading: Reading, level: str, each: Filter) -> Reading:
    """The least that has to be read when only rows count that a filter lets through."""
    match each:
        case GreaterThan(("time",), value) | GreaterThanOrEqual(("time",), value) if level in RAW_NAMES:
            return replace(reading, since_ns=max(reading.since_ns or 0, _ns(value)))
        case LessThan(("time",), value) | LessThanOrEqual(("time",), value):
            return _before(reading, level, _ns(value) + _MICROSECOND)
        case EqualTo(("time",), value):
            return _before(reading, level, _ns(value) + _MICROSECOND)
        case EqualTo(("broker",), str() as value) if level in _NAMES_A_BROKER and not reading.options.brokers:
            return replace(reading, options=replace(reading.options, brokers=frozenset({value})))
        case EqualTo(("source",) | ("destination",), str() as value) if level == "segments":
            return _on_port(reading, value)
        case StringEndsWith(("source",) | ("destination",), str() as value) if level == "segments":
            return _on_port(reading, value)
    return reading


def _before(reading: Reading, level: str, end: int) -> Reading:
    if level in RAW_NAMES:
        margin = 0
    elif level in _ASKED_AT:
        margin = MARGIN_NS
    else:
        return reading
    end += margin
    return replace(reading, until_ns=end if reading.until_ns is None else min(reading.until_ns, end))


def _on_port(reading: Reading, endpoint: str) -> Reading:
    port = number_of(endpoint.rpartition(":")[2])
    if ":" not in endpoint or port is None or reading.options.ports:
        return reading
    return replace(reading, options=replace(reading.options, ports=frozenset({port})))


def _ns(value: Any) -> int:
    if not isinstance(value, datetime):
        raise UsageError(f"'{value}' is not a time")
    moment = value if value.tzinfo else value.replace(tzinfo=UTC)
    whole = moment.replace(microsecond=0)
    return int(whole.timestamp()) * 1_000_000_000 + moment.microsecond * _MICROSECOND


def _level(options: Mapping[str, str], form: str = FORMAT) -> Table:
    name = options.get("level", _FIRST_LEVEL[form])
    if name not in _LEVELS[form]:
        raise UsageError(f"no level '{name}'", hint=f"the levels are {', '.join(_LEVELS[form])}")
    return table(name)


def _columns(options: Mapping[str, str], form: str = FORMAT) -> tuple[str, ...] | None:
    names = _listed(options, "columns")
    if not names:
        return None
    level = _level(options, form)
    strange = [name for name in names if name not in level.names]
    if strange:
        raise _no_column(level, strange[0])
    return names


def _checked(level: Table, schema: StructType) -> tuple[str, ...]:
    """The names in a schema, once they are columns of the level with its types."""
    ours = {field.name: field for field in struct_of(level)}
    for field in schema:
        if field.name not in ours:
            raise _no_column(level, field.name)
        if field.dataType != ours[field.name].dataType:
            wanted = ours[field.name].dataType.simpleString()
            raise UsageError(f"column '{field.name}' of {level.name} is {wanted}")
    return tuple(schema.names)


def _no_column(level: Table, name: str) -> UsageError:
    return UsageError(f"no column '{name}' in {level.name}", hint=f"the columns are {', '.join(level.names)}")


def _reading(options: Mapping[str, str], level: str) -> Reading:
    since, until = (parse_time(options[name]) if options.get(name) else None for name in ("since", "until"))
    return Reading(
        paths=_paths(options),
        since_ns=since,
        until_ns=until,
        options=ReadOptions(
            tables=frozenset({"exchanges"} if level in PARTIAL_NAMES else {level}),
            ports=frozenset(_port(text) for text in _listed(options, "ports")),
            clients=frozenset(_listed(options, "clients")),
            brokers=frozenset(_listed(options, "brokers")),
            topics=frozenset(_listed(options, "topics")),
        ),
    )


def _paths(options: Mapping[str, str], what: str = "captures") -> tuple[str, ...]:
    several = options.get("paths")
    paths = json.loads(several) if several else [options["path"]] if options.get("path") else []
    if not paths:
        raise InputError(f"there are no {what} to read", hint="name files or folders: .load(paths)")
    # Spark may write a path as the address of a file.
    return tuple(path.removeprefix("file://") if path.startswith("file:///") else path for path in paths)


def _listed(options: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in options.get(name, "").split(",") if part.strip())


def _port(text: str) -> int:
    port = number_of(text) or 0
    if not 0 < port < 65536:
        raise UsageError(f"'{text}' is not a port")
    return port


def _number(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if not text:
        return None
    number = number_of(text) or 0
    if not 0 < number <= 10_000:
        raise UsageError(f"{name} '{text}' is no number from 1 to 10000")
    return number
