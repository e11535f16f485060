"""Folders with rotated captures, and following them without Spark: in memory, or on disk with the store itself."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from netdiag.errors import NetdiagError
from netdiag.io.captures import Captures
from netdiag.io.follow.admission import Admission
from netdiag.io.follow.plans import Catalogue, Plan, plan_of
from netdiag.io.follow.step import Work, step
from netdiag.io.follow.store import Store
from netdiag.traffic.arrow import record_batch
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Packet
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.engine.state import DamagedState, decode, encode
from netdiag.traffic.tables import NAMES, table

Tables = dict[str, list[str]]


@dataclass
class Shelf:
    """Rows of a batch, in memory."""

    rows: dict[str, list[Any]] = field(default_factory=dict)

    def add(self, rows: Mapping[str, Sequence[Any]]) -> None:
        for name, some in rows.items():
            self.rows.setdefault(name, []).extend(some)

    def finish(self) -> dict[str, int]:
        return {name: len(rows) for name, rows in self.rows.items()}


class Memory:
    """Keeps states as bytes and rows by batch and class; `open` are those that would be."""

    def __init__(self) -> None:
        self.states: dict[tuple[int, int], bytes] = {}
        self.shelves: dict[tuple[int, int], Shelf] = {}
        self.open: dict[int, Shelf] = {}

    def state(self, batch: int, number: int) -> Any:
        return decode(self.states[batch, number])

    def keep_state(self, batch: int, number: int, state: Any) -> int:
        self.states[batch, number] = encode(state)
        return len(self.states[batch, number])

    @contextmanager
    def parts(self, batch: int, number: int) -> Iterator[Shelf]:
        self.shelves[batch, number] = Shelf()
        yield self.shelves[batch, number]

    @contextmanager
    def open_parts(self, batch: int, number: int) -> Iterator[Shelf]:
        del batch
        self.open[number] = Shelf()
        yield self.open[number]

    def damaged(self, error: DamagedState) -> NetdiagError:
        return NetdiagError(str(error))

    def tables(self) -> Tables:
        """All rows, as they would be read from disk."""
        rows: dict[str, list[Any]] = {name: [] for name in NAMES}
        for shelf in (*self.shelves.values(), *self.open.values()):
            for name, some in shelf.rows.items():
                rows[name] += some
        return comparable(rows)


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
        """Until there is nothing new."""
        while self.batch(**how):
            pass


def in_memory(folder: Path, classes: int = 1) -> tuple[Work, Memory]:
    """Following a folder with everything kept in memory."""
    memory = Memory()
    return Work(folder=str(folder), store=memory, options=EngineOptions(), classes=classes), memory


def expected(folder: Path, classes: int = 1) -> Tables:
    """The rows of the same files all at once."""
    rows: dict[str, list[Any]] = {name: [] for name in NAMES}
    for number in range(classes):
        captures = Captures([str(folder)])
        engine = Engine(EngineOptions(flow_class=(number, classes)), [file.name for file in captures.files])
        for packet in captures.packets():
            engine.feed(packet)
        captures.finish(engine)
        for name, some in engine.drain().items():
            rows[name] += some
    return comparable(rows)


def comparable(rows: Mapping[str, list[Any]]) -> Tables:
    """Rows as sorted text, with the accuracy of what is stored."""
    batches = {name: record_batch(table(name), some, unit="us") for name, some in rows.items()}
    return {name: sorted(map(repr, batch.to_pylist())) for name, batch in batches.items()}


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
