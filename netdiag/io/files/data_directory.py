"""A broker's data directory: what its text files and the names in it say. Nothing is opened for writing.

Every folder and file counts against a limit, so that a directory that somebody else filled costs bounded time and
memory. Links are not followed: a broker makes none.

A broker may be writing meanwhile. It replaces text files in one step, and deletes: what has gone is no problem. Offsets
only grow, so checkpoints are read before anything that they are held against.
"""

import os
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from netdiag.errors import InputError
from netdiag.io.files import read_inside
from netdiag.kafka.storage import (
    BOOTSTRAP,
    CLEAN_SHUTDOWN,
    HIGH_WATERMARKS,
    LEADER_EPOCHS,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    DataDirectory,
    FileProblem,
    Malformed,
    Partition,
    PartitionName,
    Segment,
    UnreadableMetaProperties,
    broker_epoch,
    leader_epochs,
    meta_properties,
    metadata_snapshot,
    offset_checkpoint,
    partition_name,
    segment_file,
    topic_id,
)

# A broker with more has other problems.
MOST_NAMES = 1_000_000
MOST_PARTITIONS = 200_000
# Of a checkpoint: 200,000 partitions take about 8 MB.
MOST_BYTES = 16 * 1024 * 1024
# Of a file that holds a few lines.
FEW_BYTES = 65_536
# A broker that runs writes its high watermarks every five seconds, unless it is told otherwise.
_CHECKPOINTED = 6.0
_POLL = 0.1
_T = TypeVar("_T")


def read_data_directory(path: str, *, most_names: int = MOST_NAMES, only: Collection[str] = ()) -> DataDirectory:
    """What lies in a data directory; InputError where nothing of it can be read, or where it is none.

    Of folders, `only` these are looked at; all where none is named.
    """
    reading = _Reading(path=path, left=most_names, only=frozenset(only))
    try:
        return reading.directory()
    except OSError as error:
        raise InputError((error.strerror or "cannot be read").lower(), where=path, hint=_hint(error)) from error


def await_high_watermarks(path: str) -> None:
    """Waits until the broker has written its high watermarks again, if it runs: they may be of a log that has gone."""
    name = os.path.join(path, HIGH_WATERMARKS)
    before = _written(name)
    while time.time() - before < _CHECKPOINTED and _written(name) == before:
        time.sleep(_POLL)


def _written(path: str) -> float:
    """When a file was written, in seconds since 1970 UTC; 0 where that is not known."""
    with suppress(OSError):
        return min(os.lstat(path).st_mtime, time.time())
    return 0


def _hint(error: OSError) -> str | None:
    return "run netdiag as root, or as the user of the broker" if isinstance(error, PermissionError) else None


@dataclass(kw_only=True)
class _Reading:
    path: str
    left: int
    only: frozenset[str] = frozenset()
    problems: list[FileProblem] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    is_cut: bool = False

    def directory(self) -> DataDirectory:
        names = self._names("")
        checkpoints = {
            name: found
            for name in OFFSET_CHECKPOINTS
            if name in names and (found := self._parsed(name, offset_checkpoint, MOST_BYTES)) is not None
        }
        wanted = names & self.only if self.only else names
        folders = {name: kind for name in wanted if (kind := partition_name(name)) is not None}
        known = sorted(folders.items())
        self.is_cut |= len(known) > MOST_PARTITIONS
        partitions = tuple(self._partition(name, kind) for name, kind in known[:MOST_PARTITIONS])
        # ZooKeeper has a folder "version-2" of its own.
        if META_PROPERTIES not in names and not any(one.segments or one.topic_id for one in partitions):
            raise InputError(
                "is not a data directory of a broker: it has no meta.properties and no log of a partition",
                where=self.path,
                hint="name a folder of log.dirs",
            )
        return DataDirectory(
            path=self.path,
            meta=self._parsed(META_PROPERTIES, meta_properties) if META_PROPERTIES in names else None,
            is_shut_down_cleanly=CLEAN_SHUTDOWN in names,
            broker_epoch=self._parsed(CLEAN_SHUTDOWN, broker_epoch) if CLEAN_SHUTDOWN in names else None,
            checkpoints=checkpoints,
            partitions=partitions,
            problems=tuple(self.problems),
            changed=tuple(self.changed),
            is_cut=self.is_cut,
            has_bootstrap=BOOTSTRAP in names,
        )

    def _partition(self, folder: str, name: PartitionName) -> Partition:
        sizes: dict[int, int] = {}
        others: list[str] = []
        snapshots: list[str] = []
        try:
            names = self._names(folder)
        except FileNotFoundError:
            self.changed.append(folder)
            names = frozenset()
        except OSError as error:
            self.problems.append(FileProblem(path=folder, message=(error.strerror or "cannot be read").lower()))
            names = frozenset()
        for each in names:
            file = segment_file(each)
            if file is None:
                (others if metadata_snapshot(each) is None else snapshots).append(each)
            elif file.kind == "snapshot" and not file.marked:
                snapshots.append(each)
            elif file.kind == "log" and not file.marked:
                with suppress(OSError):
                    sizes[file.offset] = os.lstat(os.path.join(self.path, folder, each)).st_size
        return Partition(
            name=name,
            folder=folder,
            topic_id=self._parsed(f"{folder}/{PARTITION_METADATA}", topic_id) if PARTITION_METADATA in others else None,
            segments=tuple(Segment(offset=offset, size=size) for offset, size in sorted(sizes.items())),
            leader_epochs=(self._parsed(f"{folder}/{LEADER_EPOCHS}", leader_epochs) or ())
            if LEADER_EPOCHS in others
            else (),
            snapshots=tuple(sorted(snapshots)),
        )

    def _names(self, folder: str) -> frozenset[str]:
        found = set()
        with os.scandir(os.path.join(self.path, folder)) as entries:
            for entry in entries:
                if self.left <= 0:
                    self.is_cut = True
                    break
                self.left -= 1
                if not entry.is_symlink():
                    found.add(entry.name)
                elif not folder and (partition_name(entry.name) or entry.name == META_PROPERTIES):
                    self.problems.append(
                        FileProblem(path=entry.name, message="is a link, which netdiag does not follow")
                    )
        return frozenset(found)

    def _parsed(self, name: str, parse: Callable[[str], _T], limit: int = FEW_BYTES) -> _T | None:
        data = read_inside(self.path, os.path.join(self.path, name), limit=limit)
        if data is None and not os.path.lexists(os.path.join(self.path, name)):
            self.changed.append(name)
            return None
        if data is None:
            self.problems.append(FileProblem(path=name, message=f"is no file of at most {limit:,} bytes to be read"))
            return None
        try:
            return parse(data.decode())
        except UnicodeDecodeError:
            self.problems.append(FileProblem(path=name, message="is not text"))
        except (Malformed, UnreadableMetaProperties) as error:
            self.problems.append(FileProblem(path=name, message=str(error)))
        return None
