"""What a broker left in its data directories: which node of which cluster wrote them, and what they hold.

Logs are read by the capture engine. Records of internal topics are decoded one by one, a bounded number of them;
everything else is bounded by the files.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from netdiag.app.progress import SILENT, Listener
from netdiag.errors import InputError
from netdiag.io.extras import require_live
from netdiag.io.files.data_directory import await_high_watermarks, read_data_directory
from netdiag.io.files.log_files import gone, log_files, partitions_of
from netdiag.io.files.log_problems import LogProblem, lasting, log_problems
from netdiag.io.files.stored_state import MOST_STORED, commit_cells, decoded_records, made_batches, stored_state
from netdiag.kafka.storage import DataDirectory, FileProblem, Partition, PartitionLog
from netdiag.kafka.stored_records import METADATA_TOPIC
from netdiag.kafka.stored_state import StoredState
from netdiag.traffic import native
from netdiag.traffic.native import LogFile
from netdiag.values import dataclass

INSIDE_ENGINE = ("container:", "volume:")
# Bytes of keys and values that are shown.
MOST_SHOWN = 4096
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageQuery:
    """Which data directories are read, and the logs of which topics; all of them where none is named.

    A name is a path, `container:NAME[:DIR]` or `volume:NAME`; `host` is the engine's URL, None for docker's own. With
    `only_metadata`, no more is copied and looked at than what tells whose directory it is, and the cluster's metadata.
    Of records of internal topics, `most_stored` are read.
    """

    names: tuple[str, ...]
    topics: frozenset[str] = frozenset()
    host: str | None = None
    only_metadata: bool = False
    most_stored: int = MOST_STORED


def read_storage(
    query: StorageQuery, *, reads_logs: bool = True, listener: Listener = SILENT
) -> tuple[DataDirectory, ...]:
    """The data directories, in their order; InputError where one cannot be read, or is none.

    Without the capture engine, or with `reads_logs` off, what logs hold is not known.
    """
    with ExitStack() as stack:
        found = tuple(_read(name, query, stack) for name in query.names)
        if reads_logs:
            try:
                found = tuple(
                    _twice(name, _with_logs(one, query, listener), query, listener)
                    for name, one in zip(query.names, found, strict=True)
                )
            except native.MissingEngine as error:
                listener.warning(error)
            finally:
                listener.progress("")
    return tuple(replace(one, path=name) for one, name in zip(found, query.names, strict=True))


def _twice(name: str, one: DataDirectory, query: StorageQuery, listener: Listener) -> DataDirectory:
    """Without the problems that another copy has not: the engine copies file by file, and a broker writes meanwhile."""
    if not (name.startswith(INSIDE_ENGINE) and one.problems):
        return one
    with ExitStack() as stack:
        again = frozenset(_with_logs(_read(name, query, stack), query, listener).problems)
    changed = {problem.path for problem in one.problems if problem not in again}
    return replace(
        one,
        problems=tuple(problem for problem in one.problems if problem in again),
        changed=tuple(sorted({*one.changed, *changed})),
    )


def open_storage(query: StorageQuery, stack: ExitStack) -> tuple[DataDirectory, ...]:
    """The directories as they lie here until the stack is closed; InputError where one is too large to copy."""
    found = tuple(_read(name, query, stack) for name in query.names)
    for one, name in zip(found, query.names, strict=True):
        if one.is_cut:
            raise InputError(
                "there is more in the directory than netdiag reads",
                where=name,
                hint="run netdiag as root on the engine's machine, or name the directory",
            )
    return found


def _read(name: str, query: StorageQuery, stack: ExitStack) -> DataDirectory:
    """The directory of a name, which can be read until the stack is closed."""
    only = (f"{METADATA_TOPIC}-0",) if query.only_metadata else ()
    if not name.startswith(INSIDE_ENGINE):
        return read_data_directory(name, only=only)
    require_live(f"{name.partition(':')[0]}:")
    from netdiag.io.engine.data_directories import opened  # loads the library of the engine

    directory = stack.enter_context(opened(name, query.host, only=only))
    try:
        found = read_data_directory(directory.path, only=only)
    except InputError as error:
        # The path is a copy's, or the engine's own.
        raise InputError(error.message, where=name, hint=error.hint) from error
    return replace(found, is_cut=found.is_cut or directory.is_cut)


def read_storage_table(
    query: StorageQuery, name: str, columns: Sequence[str], *, payloads: bool = False, listener: Listener = SILENT
) -> Iterator[native.Batch]:
    """The rows of a table of logs in these columns, as they become ready; InputError as `read_storage`."""
    with ExitStack() as stack:
        directories = [_read(each, query, stack) for each in query.names]
        prefixes = ("",) if len(directories) == 1 else query.names
        files = [
            file
            for one, prefix in zip(directories, prefixes, strict=True)
            for file in log_files(one, query.topics, prefix)
        ]
        try:
            yield from _rows(directories, files, query, name, columns, payloads, listener)
        finally:
            listener.progress("")
        if went := gone(files):
            others = f" and {len(went) - 1:,} others" if len(went) > 1 else ""
            listener.notice(f"{went[0]}{others} went away while netdiag read: a broker is writing")


def _rows(
    directories: Sequence[DataDirectory],
    files: Sequence[LogFile],
    query: StorageQuery,
    name: str,
    columns: Sequence[str],
    payloads: bool,
    listener: Listener,
) -> Iterator[native.Batch]:
    if name == "stored_records":
        cells = (record.cells for record in decoded_records(files, _teller(files, listener)))
        yield from made_batches(name, cells, columns)
    elif name == "committed_offsets":
        commits = (commit for one in directories for commit in _whole_state(one, query, listener).commits)
        yield from made_batches(name, map(commit_cells, commits), columns)
    elif name == "log_problems":
        yield from log_problems(files, columns, _teller(files, listener))
    else:
        # What the cluster's metadata says to log in with is hidden in stored_records, and not shown here either.
        for is_metadata, some in groupby(files, lambda file: file.topic == METADATA_TOPIC):
            most = MOST_SHOWN if payloads and not is_metadata else None
            tell = _teller(files, listener)
            for ready in native.read_logs(list(some), {name: columns}, most_shown=most, tell=tell):
                yield from ready.get(name, ())


def _whole_state(one: DataDirectory, query: StorageQuery, listener: Listener) -> StoredState:
    """The state; the listener is told where there are more records."""
    files = list(log_files(one, query.topics, ""))
    state = stored_state(one, query.topics, _teller(files, listener))
    if state.is_cut:
        listener.notice("there are more records of internal topics than netdiag reads")
    return state


def _with_logs(one: DataDirectory, query: StorageQuery, listener: Listener) -> DataDirectory:
    files = list(log_files(one, query.topics, ""))
    segments: dict[str, list[_SegmentRow]] = {}
    found: list[LogProblem] = []
    names = ("log_segments", "log_problems")
    wanted = {"log_segments": _SegmentRow._fields, "log_problems": LogProblem._fields}
    tell = _teller(files, listener)
    for ready in native.read_logs(files, wanted, tell=tell):
        segment_batches, problem_batches = (ready.get(name, ()) for name in names)
        for row in (_SegmentRow(*row) for batch in segment_batches for row in batch.rows()):
            if row.file.endswith(".log"):
                segments.setdefault(row.file.rpartition("/")[0], []).append(row)
        found += (LogProblem(*row) for batch in problem_batches for row in batch.rows())
    still = lasting(files, found)
    logs = {
        partition.folder: _log(partition, segments.get(partition.folder, ()))
        for partition in partitions_of(one, query.topics)
        if partition.segments
    }
    read = replace(
        one,
        logs=logs,
        state=stored_state(one, query.topics, tell, query.most_stored),
        changed=tuple(sorted({*one.changed, *still.changed})),
    )
    return replace(read, problems=(*one.problems, *map(_file_problem, still.problems), *_inconsistencies(read)))


def _file_problem(problem: LogProblem) -> FileProblem:
    place = "" if problem.position is None else f" (at byte {problem.position:,})"
    return FileProblem(path=problem.file, message=problem.detail + place)


def _inconsistencies(read: DataDirectory) -> tuple[FileProblem, ...]:
    """Those that the next checkpoints have, too: a broker that cuts off a log, or makes one anew, writes them later."""
    found = tuple(read.inconsistencies())
    if not found:
        return ()
    await_high_watermarks(read.path)
    again = read_data_directory(read.path, only={problem.path for problem in found})
    later = replace(read, checkpoints=again.checkpoints, is_shut_down_cleanly=again.is_shut_down_cleanly)
    also = frozenset(later.inconsistencies())
    return tuple(problem for problem in found if problem in also)


class _SegmentRow(NamedTuple):
    file: str
    batches: int
    records: int
    control_records: int
    first_offset: int | None
    last_offset: int | None
    min_timestamp: int | None
    max_timestamp: int | None
    codecs: tuple[str, ...] | None


def _log(partition: Partition, rows: Sequence[_SegmentRow]) -> PartitionLog:
    first = [row.first_offset for row in rows if row.first_offset is not None]
    last = [row.last_offset + 1 for row in rows if row.last_offset is not None]
    earliest = [row.min_timestamp for row in rows if row.min_timestamp is not None]
    latest = [row.max_timestamp for row in rows if row.max_timestamp is not None]
    used = {codec for row in rows for codec in row.codecs or ()}
    return PartitionLog(
        batches=sum(row.batches for row in rows),
        records=sum(row.records for row in rows),
        control_records=sum(row.control_records for row in rows),
        start_offset=min(first, default=None),
        # A new segment begins where the one before ends, and may have nothing yet.
        end_offset=max([*last, *(segment.offset for segment in partition.segments)], default=0),
        min_timestamp=min(earliest, default=None),
        max_timestamp=max(latest, default=None),
        codecs=tuple(codec for codec in ("none", "gzip", "snappy", "lz4", "zstd") if codec in used),
    )


def _teller(files: Sequence[LogFile], listener: Listener) -> Callable[[int], None]:
    """Tells the listener how far reading is."""

    def tell(passed: int) -> None:
        listener.progress(f"{passed // _MIB:,} MiB of {len(files):,} files read")

    return tell
