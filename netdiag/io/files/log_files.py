"""The files of a data directory that the capture engine reads: logs, and snapshots of them."""

from collections.abc import Iterable, Iterator
from os.path import join, lexists

from netdiag.kafka.storage import BOOTSTRAP, DataDirectory, FolderKind, Partition
from netdiag.kafka.stored_records import METADATA_TOPIC
from netdiag.traffic.native import LogFile


def partitions_of(one: DataDirectory, topics: frozenset[str]) -> Iterator[Partition]:
    """The partitions of these topics, of all where none is named; what is being deleted is nobody's log any more."""
    for partition in one.partitions:
        if partition.name.kind is not FolderKind.DELETED and (not topics or partition.name.topic in topics):
            yield partition


def log_files(one: DataDirectory, topics: frozenset[str], prefix: str) -> Iterator[LogFile]:
    """What the engine reads, in the order of partitions and offsets; `prefix` tells directories apart."""
    if one.has_bootstrap and (not topics or METADATA_TOPIC in topics):
        yield LogFile(path=join(one.path, BOOTSTRAP), name=join(prefix, BOOTSTRAP), topic=METADATA_TOPIC)
    for partition in partitions_of(one, topics):
        for name in partition.snapshots:
            yield _file(one, partition, name, prefix, None)
        for segment in partition.segments:
            yield _file(one, partition, segment.file, prefix, segment.offset)


def gone(files: Iterable[LogFile]) -> list[str]:
    """The names of those that a broker has deleted since."""
    return [file.name for file in files if not lexists(file.path)]


def _file(one: DataDirectory, partition: Partition, name: str, prefix: str, base_offset: int | None) -> LogFile:
    within = f"{partition.folder}/{name}"
    return LogFile(
        path=join(one.path, within),
        name=join(prefix, within),
        topic=partition.name.topic,
        partition=partition.name.partition,
        base_offset=base_offset,
    )
