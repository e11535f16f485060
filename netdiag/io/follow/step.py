"""One batch for one class of connections: from the state behind the last one to the next state, with the rows between.

Packets that are sure to be the next are taken for good. Those that still have to wait, and the ends of connections
that are open, are worked off by a copy: its rows are those that there would be if nothing more came. So the tables are
at any time what `analyze` says about the same files. Everything here depends on the plan and the state before alone.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from netdiag.errors import NetdiagError
from netdiag.io.follow.merging import Merge
from netdiag.io.follow.plans import Plan
from netdiag.io.follow.source import Source
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Undecoded
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.engine.state import DamagedState, decode, encode, reading_state

_STRIDE = 1000
_SECOND = 1_000_000_000


class Rows(Protocol):
    """Takes rows, and has them all or none."""

    def add(self, rows: Mapping[str, Sequence[Any]]) -> None:
        """More rows of tables."""

    def finish(self) -> dict[str, int]:
        """That was all; how many rows each table has got."""


class Keeping(Protocol):
    """Where states and rows are kept, see `store`."""

    def state(self, batch: int, number: int) -> Any: ...

    def keep_state(self, batch: int, number: int, state: Any) -> int: ...

    def parts(self, batch: int, number: int) -> AbstractContextManager[Rows]: ...

    def open_parts(self, batch: int, number: int) -> AbstractContextManager[Rows]: ...

    def damaged(self, error: DamagedState) -> NetdiagError: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What all batches of one following have in common; `folder` as its files are called in rows."""

    folder: str
    store: Keeping
    options: EngineOptions
    classes: int
    since_ns: int | None = None
    until_ns: int | None = None

    def share(self, number: int) -> EngineOptions:
        """What one class asks of the engine."""
        return replace(self.options, flow_class=(number, self.classes), lasting=True)


@dataclass(slots=True)
class Tally:
    """What was read so far: `packets` and the times of the first and the last one; `rows` by table."""

    packets: int
    first: int | None
    last: int | None
    rows: dict[str, int]

    def count(self, time: int) -> None:
        """One more packet."""
        self.packets += 1
        self.first = time if self.first is None or time < self.first else self.first
        self.last = time if self.last is None or time > self.last else self.last

    def add(self, rows: Mapping[str, int]) -> None:
        """More rows."""
        self.rows = {name: self.rows.get(name, 0) + count for name, count in rows.items()}

    def state(self) -> tuple[Any, ...]:
        """As it is kept."""
        return self.packets, self.first, self.last, dict(self.rows)


def step(work: Work, plan: Plan, number: int) -> dict[str, Any]:
    """Do a batch; gives what was read and how many rows there are now, all in all."""
    options = work.share(number)
    engine, merge, tally = _before(work, plan, number, options)
    _take_in(work, plan, engine, merge)
    with work.store.parts(plan.batch, number) as parts:
        for rows in _fed(engine, merge, plan.until, tally):
            parts.add(rows)
        merge.close()
        tally.add(parts.finish())
    state = engine.save(tuple(merge.sources)), encode(merge.state()), tally.state()
    size = work.store.keep_state(plan.batch, number, state)
    now = _open(work, plan.batch, number, state)
    return {
        "class": number,
        "packets": now.packets,
        "first": now.first,
        "last": now.last,
        "rows": now.rows,
        "state": size,
    }


def open_again(work: Work, batch: int, number: int) -> None:
    """Give once more the rows that there would be if nothing more came than a batch has taken."""
    _open(work, batch, number, work.store.state(batch, number))


def _open(work: Work, batch: int, number: int, state: tuple[bytes, bytes, tuple[Any, ...]]) -> Tally:
    saved, merged, tally = state
    try:
        with reading_state():
            copy, rest = Engine.restored(work.share(number), saved), Merge.restored(decode(merged))
            now = Tally(*tally)
    except DamagedState as error:
        raise work.store.damaged(error) from error
    with work.store.open_parts(batch, number) as parts:
        for source in rest.sources.values():
            source.end()
        for rows in _fed(copy, rest, None, now):
            parts.add(rows)
        rest.close()
        copy.finish()
        parts.add(copy.drain())
        now.add(parts.finish())
    return now


def _before(work: Work, plan: Plan, number: int, options: EngineOptions) -> tuple[Engine, Merge, Tally]:
    """As things were behind the batch before."""
    if plan.batch == 1:
        return Engine(options, ()), Merge(), Tally(0, None, None, {})
    state = work.store.state(plan.batch - 1, number)
    try:
        with reading_state():
            saved, merged, tally = state
            return Engine.restored(options, saved), Merge.restored(decode(merged)), Tally(*tally)
    except DamagedState as error:
        raise work.store.damaged(error) from error


def _take_in(work: Work, plan: Plan, engine: Engine, merge: Merge) -> None:
    """Tell what may be read now."""
    sources = merge.sources
    for file in sorted(plan.files, key=lambda each: each.number):
        name = str(Path(work.folder, file.name))
        path = os.path.abspath(name)
        source = sources.get(file.number)
        if source is None:
            if file.number < engine.next_file:
                continue
            number = engine.add_file(name)
            source = Source(
                number=number,
                name=name,
                path=path,
                first_time=file.first_time,
                late=file.late,
                identity=file.identity,
            ).between(work.since_ns, work.until_ns)
            merge.add(source)
        source.move(path, file.identity)
        source.allow(file.taken, ended=file.ended, quiet=file.quiet)
        source.gone = file.gone


def _fed(engine: Engine, merge: Merge, until: int | None, tally: Tally) -> Iterator[dict[str, Any]]:
    """Give the engine what is next, and its rows back."""
    feed = engine.feed
    for count, packet in enumerate(merge.packets(until), 1):
        feed(packet)
        tally.count(packet.time)
        if count % _STRIDE == 0:
            yield engine.drain()
    for source in merge.ended():
        _account(engine, source)
    yield engine.drain()


def _account(engine: Engine, source: Source) -> None:
    """What a file that is over has lost."""
    engine.dropped(source.number, source.reader.account.dropped)
    for lost in source.reader.losses:
        engine.lose(source.number, lost)
    if source.failure is not None:
        engine.lose(source.number, source.failure)
    elif source.gone:
        engine.lose(source.number, Undecoded("removed", "went away before a later one had come", 0))
    if source.late:
        detail = f"began {source.late / _SECOND:.1f} s before what was taken by then"
        engine.lose(source.number, Undecoded("late", detail, 0), source.first_time)
    engine.end_file(source.number)
