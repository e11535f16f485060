"""Folders with rotated captures, and following them without Spark: in memory, or on disk with the store itself."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from netdiag.errors import NetdiagError
from netdiag.io.files.captures import capture_files
from netdiag.io.follow.admission import Admission
from netdiag.io.follow.batch import Catalogue, Plan, Work, plan_of, step
from netdiag.io.follow.store import Store
from netdiag.traffic import native
from netdiag.traffic.native import DamagedState, ReadOptions
from netdiag.traffic.tables import NAMES
from tests.native.packets import Packet

Tables = dict[str, list[str]]


@dataclass
class Shelf:
    """Rows of a batch, in memory."""

    rows: dict[str, list[str]] = field(default_factory=dict)

    def add(self, batches: Mapping[str, Sequence[Any]]) -> None:
        for name, some in batches.items():
            for batch in some:
                self.rows.setdefault(name, []).extend(map(repr, pa.record_batch(batch).to_pylist()))

    def finish(self) -> None:
        pass


# More than any test needs.
_MOST_BATCHES = 1000


class Memory:
    """Keeps states as bytes and rows by batch and class; `open` are those that would be."""

    def __init__(self) -> None:
        self.states: dict[tuple[int, int], bytes] = {}
        self.shelves: dict[tuple[int, int], Shelf] = {}
        self.open: dict[int, Shelf] = {}

    def state(self, batch: int, number: int) -> bytes:
        return self.states[batch, number]

    def keep_state(self, batch: int, number: int, state: bytes) -> None:
        self.states[batch, number] = state

    @contextmanager
    def parts(self, batch: int, number: int) -> Iterator[Shelf]:
        self.shelves[batch, number] = Shelf()
        yield self.shelves[batch, number]

    @contextmanager
    def open_parts(self, batch: int, number: int) -> Iterator[Shelf]:
        del batch
        self.open[number] = Shelf()
        yield self.open[number]

    def damaged(self, batch: int, number: int, error: DamagedState) -> NetdiagError:
        del batch, number
        return NetdiagError(str(error))

    def tables(self) -> Tables:
        """All rows, as they would be read from disk."""
        shelves = (*self.shelves.values(), *self.open.values())
        return {name: sorted(row for shelf in shelves for row in shelf.rows.get(name, ())) for name in NAMES}


class Following:
    """Batch after batch, each planned and carried out."""

    def __init__(self, work: Work, **admission: Any) -> None:
        self.work = work
        self.admission = Admission(work.folder, **admission)
        self.catalogue = Catalogue()
        self.plans: list[Plan] = []

    def batch(self, *, twice: bool = False) -> bool:
        """One batch, where there is something new; `twice`: as if a task was tried again."""
        plan = self.admission.plan(self.catalogue)
        if plan is None:
            return False
        plan = plan_of(plan.text())
        for number in range(self.work.classes):
            for _ in range(1 + twice):
                step(self.work, plan, number)
        if isinstance(self.work.store, Store):
            self.work.store.commit(plan.batch, self.work.classes)
        self.plans.append(plan)
        self.catalogue = self.catalogue.after(plan)
        return True

    def all(self, **how: bool) -> None:
        """Until there is nothing new; AssertionError where that never comes."""
        assert not all(self.batch(**how) for _ in range(_MOST_BATCHES))


def in_memory(folder: Path, classes: int = 1) -> tuple[Work, Memory]:
    """Following a folder with everything kept in memory."""
    memory = Memory()
    return Work(folder=str(folder), store=memory, options=ReadOptions(), classes=classes), memory


def expected(folder: Path, classes: int = 1) -> Tables:
    """The rows of the same files all at once."""
    shelf = Shelf()
    for number in range(classes):
        for ready in native.read(capture_files([str(folder)]), ReadOptions(flow_class=(number, classes)), unit="us"):
            shelf.add(ready)
    return {name: sorted(shelf.rows.get(name, ())) for name in NAMES}


def stored(out: Path) -> Tables:
    """The tables in a folder."""
    found = {}
    for name in NAMES:
        parts = [path for path in (out / name).iterdir() if not path.name.startswith(".")]
        found[name] = sorted(repr(row) for part in parts for row in pq.read_table(part).to_pylist())
    return found


def cut(packets: Sequence[Packet], files: int, chance: random.Random, *, swap: float = 0.3) -> list[list[Packet]]:
    """The packets in so many files; where one ends and the next begins some may be swapped."""
    places = sorted(chance.sample(range(1, len(packets)), files - 1))
    parts = [list(packets[a:b]) for a, b in zip([0, *places], [*places, len(packets)], strict=True)]
    for one, two in pairwise(parts):
        if chance.random() < swap and len(one) > 1 and len(two) > 1:
            one[-1], two[0] = two[0], one[-1]
    return parts
