"""What a broker keeps in its data directory, as far as it is text.

Source: MetaProperties, MetaPropertiesEnsemble, CheckpointFile, PartitionMetadataFile and LogFileUtils of Kafka
3.9 and 4.x, and directories that brokers of 3.9.1 and 4.3.1 wrote.
"""

import json
from collections.abc import Iterator, Mapping
from enum import Enum
from io import StringIO

from netdiag.digits import number_of
from netdiag.kafka.java_properties import parse_properties
from netdiag.kafka.stored_state import NOTHING_STORED, StoredState
from netdiag.patterns import regex
from netdiag.values import dataclass

META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
CLEANED = "cleaner-offset-checkpoint"
OFFSET_CHECKPOINTS = (RECOVERY_POINTS, LOG_STARTS, HIGH_WATERMARKS, CLEANED)
BOOTSTRAP = "bootstrap.checkpoint"
# What tells whose a data directory is, and how far its logs reach.
KNOWN_FILES = (META_PROPERTIES, CLEAN_SHUTDOWN, *OFFSET_CHECKPOINTS, BOOTSTRAP)
# Where brokers keep their data unless told otherwise: Kafka's default of log.dir, and its server.properties for KRaft.
DEFAULT_DIRECTORIES = ("/tmp/kafka-logs", "/tmp/kraft-combined-logs")
PARTITION_METADATA = "partition.metadata"
LEADER_EPOCHS = "leader-epoch-checkpoint"
TopicPartition = tuple[str, int]
# Of a checkpoint: a broker has far fewer partitions.
MOST_ENTRIES = 250_000
# Of what is shown; Kafka's own cluster IDs have 22 characters.
_LONGEST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaProperties:
    """Which node of which cluster a data directory belongs to; None where the file does not say.

    `version` 0 is written with ZooKeeper, 1 with KRaft.
    """

    version: int
    cluster_id: str | None
    node_id: int | None
    directory_id: str | None = None


class UnreadableMetaProperties(Exception):
    """The broker does not start with this file; the message is what it prints."""


def meta_properties(text: str) -> MetaProperties:
    """The identity in a `meta.properties`; UnreadableMetaProperties where the broker refuses it."""
    values = parse_properties(text)
    written = values.get("version", "0")[:_LONGEST]
    version = _int32(written)
    if version is None:
        raise UnreadableMetaProperties(f"Invalid meta.properties version string '{written}'")
    if version not in (0, 1):
        raise UnreadableMetaProperties(f"Unknown meta.properties version number {version}")
    name = "node.id" if version else "broker.id"
    node_id = _int32(values[name]) if name in values else None
    if name in values and node_id is None:
        raise UnreadableMetaProperties(f"Unable to read {name} as a base-10 number.")
    cluster_id = values["cluster.id"][:_LONGEST] if "cluster.id" in values else None
    if version and None in (cluster_id, node_id):
        raise UnreadableMetaProperties(f"{'cluster.id' if cluster_id is None else name} was not found.")
    return MetaProperties(
        version=version, cluster_id=cluster_id, node_id=node_id, directory_id=values.get("directory.id")
    )


def _int32(text: str) -> int | None:
    """What Java's Integer.parseInt makes of ASCII text; None where it refuses."""
    number = int(text) if _INT.fullmatch(text) else None
    return number if number is not None and -(2**31) <= number < 2**31 else None


class Malformed(Exception):
    """A file that a broker did not write so; the message says what is wrong, with the line."""


class FolderKind(Enum):
    """What a partition's folder is for; the value is what stands behind its name.

    FUTURE: a copy on its way from another data directory. STRAY: the broker found that the partition is not its own.
    """

    CURRENT = ""
    FUTURE = "-future"
    DELETED = "-delete"
    STRAY = "-stray"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionName:
    """What the name of a partition's folder says."""

    topic: str
    partition: int
    kind: FolderKind = FolderKind.CURRENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentFile:
    """What the name of a file in a partition's folder says: the offset that it begins with, and what it holds.

    `kind` is "log", "index", "timeindex", "txnindex" or "snapshot"; `marked` "deleted", "cleaned" or "swap" while the
    broker replaces it, else "".
    """

    offset: int
    kind: str
    marked: str = ""


_FOLDER = regex(r"([A-Za-z0-9._-]{1,249})-(0|[1-9][0-9]{0,9})(?:\.[0-9a-f]{32}(-future|-delete|-stray))?")
_SEGMENT = regex(r"([0-9]{20})\.(log|index|timeindex|txnindex|snapshot)(?:\.(deleted|cleaned|swap))?")
# A snapshot of the metadata of a cluster: its offset, its epoch.
_METADATA_SNAPSHOT = regex(r"([0-9]{20})-([0-9]{10})\.checkpoint")
_WHOLE = regex(r"-?[0-9]{1,19}")
_INT = regex(r"[+-]?[0-9]{1,99}")


def partition_name(folder: str) -> PartitionName | None:
    """What the name of a folder in a data directory says; None for one that holds no partition."""
    found = _FOLDER.fullmatch(folder)
    if found is None:
        return None
    return PartitionName(topic=found[1], partition=int(found[2]), kind=FolderKind(found[3] or ""))


def segment_file(name: str) -> SegmentFile | None:
    """What the name of a file in a partition's folder says; None for one that belongs to no segment."""
    found = _SEGMENT.fullmatch(name)
    return SegmentFile(offset=int(found[1]), kind=found[2], marked=found[3] or "") if found is not None else None


def metadata_snapshot(name: str) -> int | None:
    """The offset that a snapshot of a cluster's metadata reaches up to; None for another file."""
    found = _METADATA_SNAPSHOT.fullmatch(name)
    return int(found[1]) if found is not None else None


def offset_checkpoint(text: str) -> Mapping[TopicPartition, int]:
    """The offset of each partition in a checkpoint; Malformed where it is none.

    A file of no bytes is one that was not written yet.
    """
    found: dict[TopicPartition, int] = {}
    for number, words in _entries(text):
        if len(words) != 3 or not all(_WHOLE.fullmatch(word) for word in words[1:]):
            raise Malformed(f"line {number} is not a topic, a partition and an offset")
        found[words[0], int(words[1])] = int(words[2])
    return found


def leader_epochs(text: str) -> tuple[tuple[int, int], ...]:
    """Each leader epoch with the offset that it begins with; Malformed where there is none."""
    found: list[tuple[int, int]] = []
    for number, words in _entries(text):
        if len(words) != 2 or not all(_WHOLE.fullmatch(word) for word in words):
            raise Malformed(f"line {number} is not an epoch and an offset")
        found.append((int(words[0]), int(words[1])))
    return tuple(found)


def topic_id(text: str) -> str:
    """The topic ID in a `partition.metadata`; Malformed where there is none."""
    values = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    if values.get("version") != "0":
        raise Malformed(f"has version {values.get('version', '')[:_LONGEST]!r}, which is not 0")
    if not values.get("topic_id"):
        raise Malformed("has no topic_id")
    return values["topic_id"][:_LONGEST]


def broker_epoch(text: str) -> int | None:
    """The epoch in which the broker shut down cleanly; None where its release does not write it."""
    try:
        value = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        raise Malformed("is not JSON") from None
    epoch = value.get("brokerEpoch") if isinstance(value, dict) else None
    return epoch if isinstance(epoch, int) else None


def _entries(text: str) -> Iterator[tuple[int, list[str]]]:
    """The entries of a checkpoint file, with their lines: behind its version and their number."""
    if not text:
        return
    lines = StringIO(text)
    version, said = lines.readline().strip()[:_LONGEST], lines.readline().strip()[:_LONGEST]
    if version != "0":
        raise Malformed(f"has version {version!r}, which is not 0")
    count = number_of(said)
    if count is None or count > MOST_ENTRIES:
        raise Malformed(f"says that it has {said or 'no'} entries")
    number = 0
    for number, line in enumerate(lines, 1):
        if number > count:
            break
        # No entry has more than three words.
        yield number + 2, line.split(None, 3)
    if number != count:
        raise Malformed(f"says that it has {count} entries, and has {'more' if number > count else number}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """A file that cannot be read as what its name says, relative to the data directory."""

    path: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A piece of a log; `size` in bytes."""

    offset: int
    size: int

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.offset:020}.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionLog:
    """What the log of a partition holds, of what could be read.

    `start_offset`, `end_offset`: of the first batch, and behind the last one. Timestamps are milliseconds since 1970
    UTC. `codecs`: how batches are compressed. `control_records` are no part of `records`.
    """

    batches: int
    records: int
    control_records: int
    start_offset: int | None
    end_offset: int
    min_timestamp: int | None
    max_timestamp: int | None
    codecs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition's folder. `snapshots`: names of files, of producers (.snapshot) and of metadata (.checkpoint)."""

    name: PartitionName
    folder: str
    topic_id: str | None = None
    segments: tuple[Segment, ...] = ()
    leader_epochs: tuple[tuple[int, int], ...] = ()
    snapshots: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Of its log, in bytes."""
        return sum(segment.size for segment in self.segments)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataDirectory:
    """What lies in a data directory.

    `checkpoints` are offsets by the name of their file; `broker_epoch` is that of the clean shutdown. `is_cut` where
    there is more than was looked at. `has_bootstrap`: it has the metadata that the cluster began with. `logs`: what the
    logs hold, by folder; None where they were not read. `state`: what internal topics say. `changed`: files and folders
    that a broker deleted or wrote to while they were read, so that not all of them counts.
    """

    path: str
    meta: MetaProperties | None
    is_shut_down_cleanly: bool
    broker_epoch: int | None
    checkpoints: Mapping[str, Mapping[TopicPartition, int]]
    partitions: tuple[Partition, ...]
    problems: tuple[FileProblem, ...] = ()
    is_cut: bool = False
    has_bootstrap: bool = False
    logs: Mapping[str, PartitionLog] | None = None
    state: StoredState = NOTHING_STORED
    changed: tuple[str, ...] = ()

    def checkpoint(self, file: str, name: PartitionName) -> int | None:
        """What a checkpoint says of a partition; None where it says nothing, or is not about such a folder."""
        if name.kind is not FolderKind.CURRENT:
            return None
        return self.checkpoints.get(file, {}).get((name.topic, name.partition))

    def inconsistencies(self) -> Iterator[FileProblem]:
        """Where a checkpoint says what the log of a partition does not have; of one that changed nothing is known."""
        changed = {path.partition("/")[0] for path in self.changed}
        for partition in self.partitions:
            log = (self.logs or {}).get(partition.folder)
            if log is None or partition.folder in changed:
                continue
            for file, what in ((HIGH_WATERMARKS, "high watermark"), (RECOVERY_POINTS, "recovery point")):
                offset = self.checkpoint(file, partition.name)
                if offset is not None and offset > log.end_offset:
                    message = f"the {what} is {offset}, and the log ends at {log.end_offset}"
                    yield FileProblem(path=partition.folder, message=message)
            start = self.checkpoint(LOG_STARTS, partition.name)
            if start is not None and start > log.end_offset:
                message = f"the log starts at {start}, and ends at {log.end_offset}"
                yield FileProblem(path=partition.folder, message=message)
            recovery = self.checkpoint(RECOVERY_POINTS, partition.name)
            if self.is_shut_down_cleanly and recovery is not None and recovery < log.end_offset:
                message = f"the broker shut down cleanly at offset {recovery}, and the log ends at {log.end_offset}"
                yield FileProblem(path=partition.folder, message=message)
