"""Which of the files in a folder the next batch takes, and up to which time packets are sure to be in order.

Files are taken in the order of their first packets, so many bytes in a batch. Nothing orders packets but their times,
and a file may come that begins a little before the last packet of those that are there: packets of the last `lateness`
before the latest one wait for the next batch. What waits is part of the answer all the same, see `batch`.

What is missing may come back compressed, for half a minute. A file is over when a later one of its series is there: the
same name but for digits, as tcpdump, dumpcap and netdiag number files. What is compressed is taken as a whole, when it
has not grown for a while. A file that did not grow for a minute while later ones came does not hold up others any
longer; what it gains later is late. A file is left for later as long as it has no whole packet.
"""

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from netdiag.errors import NetdiagError
from netdiag.io.follow.batch import BEGIN, Catalogue, Known, Plan
from netdiag.traffic.native import Latest, begins_as_capture, first_time, is_compressed, latest
from netdiag.values import dataclass

LATENESS = 2.0
BATCH_BYTES = 64 * 1024 * 1024
_BATCH_FILES = 200
_SETTLED = 5.0
_QUIET = 60.0
_MISSED = 30.0
_SECOND = 1_000_000_000
# What `netdiag capture` has not finished.
_UNFINISHED = ".part"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A file as it lies there."""

    name: str
    size: int
    age: float
    inode: int
    begin: bytes

    @property
    def is_packed(self) -> bool:
        return is_compressed(self.begin)


class Admission:
    """Plans one batch after the other. `at_once`: nothing that is there is waited for."""

    def __init__(
        self, folder: str, *, lateness: float = LATENESS, most: int = BATCH_BYTES, at_once: bool = False
    ) -> None:
        self._folder = folder
        self._lateness = int(lateness * _SECOND)
        self.most = most
        self._at_once = at_once
        # By the number of a file: where it lies, what looks into it, and the time of its latest packet.
        self._latest: dict[int, tuple[str, Latest, int]] = {}
        self._strangers: set[str] = set()
        self._firsts: dict[str, tuple[tuple[int, int], int]] = {}
        self._missed: dict[int, float] = {}
        self._notes: list[str] = []

    def plan(self, before: Catalogue) -> Plan | None:
        """The next batch; None where there is nothing new."""
        self._notes = []
        seen = {each.name: each for each in self._listed()}
        known, fresh = self._matched(before, seen)
        taken, waiting = self._taken(before, (*known, *fresh), seen)
        if not taken:
            return None
        gone = tuple(file.number for file in known if file.ended and not _lies(file, seen))
        until = self._until(before.after(Plan(batch=0, files=tuple(taken))), before.until, waiting)
        reached = {file.name: file.taken for file in (*known, *taken)}
        left = sum(max(0, each.size - reached.get(each.name, 0)) for each in seen.values())
        return Plan(
            batch=before.batch + 1,
            files=tuple(taken),
            until=until,
            forgotten=gone,
            notes=tuple(self._notes),
            left=left,
        )

    def _taken(
        self, before: Catalogue, files: Sequence[Known], seen: Mapping[str, _Seen]
    ) -> tuple[list[Known], int | None]:
        """What the batch takes, and when the first file begins that it has no room for."""
        last: dict[str, tuple[int, str]] = {}
        for file in files:
            series = _series(file.name)
            last[series] = max(last.get(series, (-1, "")), (file.first_time, file.name))
        newest = max(last.values(), default=(-1, ""))
        taken: list[Known] = []
        budget, number, waiting = self.most, before.next_number, None
        for file in sorted(files, key=lambda each: (each.first_time, each.name)):
            lies, place = seen.get(file.name), (file.first_time, file.name)
            if file.ended and file in before.files:
                continue
            if lies is None or not file.holds(lies.inode, lies.begin):
                if self._is_lost(file):
                    taken.append(replace(file, ended=True, gone=True))
                continue
            if budget <= 0 or len(taken) >= _BATCH_FILES:
                waiting = file.first_time if waiting is None else waiting
                continue
            size = lies.size if lies.is_packed else min(lies.size, file.taken + budget)
            over = size == lies.size and (lies.is_packed or place < last[_series(file.name)])
            quiet = size == lies.size and lies.age > _QUIET and place < newest
            budget -= max(0, size - file.taken)
            now = replace(file, taken=size, ended=over, quiet=quiet)
            if now not in before.files:
                if now.number < 0:
                    now = replace(now, number=number)
                    number += 1
                taken.append(now)
        return taken, waiting

    def _is_lost(self, file: Known) -> bool:
        """Whether a file that is not there will not come back under another name, such as compressed."""
        return self._at_once or time.monotonic() - self._missed.setdefault(file.number, time.monotonic()) > _MISSED

    def _listed(self) -> Iterator[_Seen]:
        """The captures in the folder."""
        now = time.time()
        for entry in sorted(os.scandir(self._folder), key=lambda each: each.name):
            if entry.name.startswith(".") or entry.name.endswith(_UNFINISHED) or entry.name in self._strangers:
                continue
            try:
                if not entry.is_file():
                    continue
                with open(entry.path, "rb", buffering=0) as stream:
                    status = os.fstat(stream.fileno())
                    begin = stream.read(BEGIN)
            except OSError as error:
                self._stranger(entry.name, f"cannot be read: {error.strerror}")
                continue
            if len(begin) < BEGIN and now - status.st_mtime < _SETTLED and not self._at_once:
                continue
            if not begins_as_capture(begin):
                if begin:
                    self._stranger(entry.name, "is not a capture")
                continue
            age = now - status.st_mtime
            if is_compressed(begin) and age < _SETTLED and not self._at_once:
                continue
            yield _Seen(name=entry.name, size=status.st_size, age=age, inode=status.st_ino, begin=begin)

    def _stranger(self, name: str, why: str, so: str = "and is left out") -> None:
        """A file that nothing is taken from: told once."""
        self._strangers.add(name)
        self._notes.append(f"'{name}' {why}, {so}" if so.startswith("and") else f"'{name}' {why} {so}")

    def _matched(self, before: Catalogue, seen: Mapping[str, _Seen]) -> tuple[list[Known], list[Known]]:
        """The files that are known, under the names that they have now, and those that are new."""
        known = {file.number: file for file in before.files}
        names = {file.name: file for file in before.files}
        stems = {(_stem(file.name), file.first_time): file for file in before.files}
        fresh = []
        for name, lies in seen.items():
            same = names.get(name)
            if same is not None and same.holds(lies.inode, lies.begin) and lies.size >= same.taken:
                if same.ended and lies.size > same.taken:
                    self._stranger(name, "grew after a later file had arrived; the added part", "is left out")
                continue
            first = self._first_time(lies)
            if not first:
                continue
            same = stems.get((_stem(name), first))
            if same is not None and same.name != name:
                # The same capture, compressed by now: its content goes on at the same place.
                moved = replace(same, name=name, inode=lies.inode, begin=lies.begin.hex(), taken=lies.size, ended=True)
                if same.name not in seen:
                    known[same.number] = moved
                continue
            late = max(0, before.until - first)
            if late:
                self._notes.append(f"'{name}' begins {late / _SECOND:.1f} s before packets that were already analyzed")
            begin = lies.begin.hex()
            fresh.append(Known(number=-1, name=name, first_time=first, inode=lies.inode, begin=begin, late=late))
        self._firsts = {name: first for name, first in self._firsts.items() if name in seen}
        return list(known.values()), fresh

    def _first_time(self, lies: _Seen) -> int:
        """When a file begins; 0 as long as it has no packet."""
        key = (lies.size, lies.inode)
        if self._firsts.get(lies.name, (None, 0))[0] != key:
            path = os.path.join(self._folder, lies.name)
            try:
                first = first_time(path)
            except NetdiagError as error:
                self._stranger(lies.name, error.message)
                return 0
            self._firsts[lies.name] = key, first
        return self._firsts[lies.name][1]

    def _until(self, after: Catalogue, before: int, waiting: int | None) -> int:
        """Up to which time nothing is to be waited for."""
        newest = max(after.files, key=lambda file: (file.first_time, file.name))
        open_files = [file for file in after.files if not file.ended or file.number == newest.number]
        self._latest = {file.number: self._latest_of(file) for file in open_files}
        latest = max(newest.first_time, *(latest for _, _, latest in self._latest.values()))
        sure = latest - self._lateness
        return max(before, sure if waiting is None else min(sure, waiting))

    def _latest_of(self, file: Known) -> tuple[str, Latest, int]:
        """The time of the latest packet in what is taken of a file, and how that was found."""
        path = os.path.join(self._folder, file.name)
        before = self._latest.get(file.number)
        if before is not None and before[0] == path:
            looking = before[1]
        else:
            looking = latest(path, first_time=file.first_time, inode=file.inode, begin=bytes.fromhex(file.begin))
        return path, looking, looking.within(file.taken)


def _lies(file: Known, seen: Mapping[str, _Seen]) -> bool:
    lies = seen.get(file.name)
    return lies is not None and file.holds(lies.inode, lies.begin)


def _series(name: str) -> str:
    return re.sub(r"\d+", "", _stem(name))


def _stem(name: str) -> str:
    return name.removesuffix(".gz").removesuffix(".zst")
