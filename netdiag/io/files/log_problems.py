"""What is wrong with the files of logs, told where a second look finds it again.

A broker that is writing adds to a log and then to its indexes, puts compacted segments in the place of others, deletes
segments, and cuts logs off. A look in the middle of that finds what is none of the log's own faults, and what is gone.

An index that a broker has open, or that it has not closed, has room behind its entries. Where its log was cut off,
entries stay in it until others are written over them, and a broker that starts makes it anew. So what they say is no
problem.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from stat import S_ISREG
from typing import NamedTuple

from netdiag.io.files.stored_state import made_batches
from netdiag.traffic import native
from netdiag.traffic.native import LogFile
from netdiag.traffic.tables import table
from netdiag.values import dataclass

# A broker that was writing less than so many seconds ago gets as many to end what it began.
_JUST_NOW = 0.25
# So many files are looked at before their problems are looked at again.
_TOGETHER = 1000
_TABLE = "log_problems"
_INDEXES = ("index", "timeindex", "txnindex")
# Bytes of an entry of those with room.
_ENTRIES = {"index": 8, "timeindex": 12}


class LogProblem(NamedTuple):
    """A row of `log_problems`."""

    file: str
    topic: str | None
    partition: int | None
    position: int | None
    kind: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """Problems that a second look found again, and the files that had others."""

    problems: tuple[LogProblem, ...]
    changed: tuple[str, ...]


def lasting(files: Sequence[LogFile], found: Sequence[LogProblem]) -> Lasting:
    """Which of the problems that were found in files are still there."""
    paths = {file.name: file.path for file in files}
    found = [problem for problem in found if not _is_unfinished(problem, paths)]
    logs = {_log_of(problem.file) for problem in found}
    doubted = [file for file in files if file.name in logs]
    written = [status.st_mtime for file in doubted if (status := _status(file.path)) is not None]
    if any(abs(time.time() - each) < _JUST_NOW for each in written):
        time.sleep(_JUST_NOW)
    again = {_same(problem) for problem in _read(doubted)}
    there = {file.name for file in doubted if os.path.lexists(file.path)}
    kept = tuple(problem for problem in found if _same(problem) in again and _log_of(problem.file) in there)
    return Lasting(problems=kept, changed=tuple(sorted({problem.file for problem in set(found) - set(kept)})))


def log_problems(
    files: Sequence[LogFile], columns: Sequence[str], tell: Callable[[int], None] | None = None
) -> Iterator[native.Batch]:
    """The rows of `log_problems` in these columns; `tell` is told how far reading is, in bytes."""
    passed = 0

    def tell_all(read: int) -> None:
        if tell is not None:
            tell(passed + read)

    for start in range(0, len(files), _TOGETHER):
        some = files[start : start + _TOGETHER]
        yield from made_batches(_TABLE, lasting(some, list(_read(some, tell_all))).problems, columns)
        passed += sum(status.st_size for file in some if (status := _status(file.path)) is not None)


def _read(files: Sequence[LogFile], tell: Callable[[int], None] | None = None) -> Iterator[LogProblem]:
    for ready in native.read_logs(files, {_TABLE: table(_TABLE).names}, tell=tell):
        for batch in ready.get(_TABLE, ()):
            yield from (LogProblem(*row) for row in batch.rows())


def _log_of(name: str) -> str:
    """An index is looked at with its log."""
    stem, _, ending = name.rpartition(".")
    return f"{stem}.log" if ending in _INDEXES else name


def _is_unfinished(problem: LogProblem, paths: Mapping[str, str]) -> bool:
    """Whether it is about the entries of an index with room, or about a snapshot that has only been made."""
    log, ending = _log_of(problem.file), problem.file.rpartition(".")[2]
    if ending == "snapshot":
        status = _status(paths.get(problem.file, ""))
        return status is not None and S_ISREG(status.st_mode) and status.st_size == 0
    if ending not in _ENTRIES or log not in paths:
        return False
    size = _ENTRIES[ending]
    try:
        with open(paths[log].removesuffix("log") + ending, "rb", opener=_opener) as index:
            index.seek(-size, os.SEEK_END)
            return index.read(size) == bytes(size)
    except OSError:
        return False


def _opener(path: str, flags: int) -> int:
    """Waits for nobody who writes into a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))


def _same(problem: LogProblem) -> tuple[str, int | None, str]:
    """What a problem is known again by: how many bytes are behind it changes as a log grows."""
    return problem.file, problem.position, problem.kind


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None
