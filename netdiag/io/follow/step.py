"""One batch for one class of connections: from the state behind the last one to the next state, with the rows between.

Packets that are sure to be the next are taken for good. Those that still have to wait, and the ends of connections
that are open, are worked off by a copy: its rows are those that there would be if nothing more came. So the tables are
at any time what `analyze` says about the same files. Everything here depends on the plan and the state before alone.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from netdiag.errors import NetdiagError
from netdiag.io.follow.plans import Plan
from netdiag.traffic.native import Batch, DamagedState, Follower, ReadOptions, Tally
from netdiag.values import dataclass


class Rows(Protocol):
    """Takes rows, and has them all or none."""

    def add(self, batches: Mapping[str, Sequence[Any]]) -> None:
        """More rows of tables, in batches."""

    def finish(self) -> None:
        """That was all."""


class Keeping(Protocol):
    """Where states and rows are kept, see `store`."""

    def state(self, batch: int, number: int) -> bytes: ...

    def keep_state(self, batch: int, number: int, state: bytes) -> None: ...

    def parts(self, batch: int, number: int) -> AbstractContextManager[Rows]: ...

    def open_parts(self, batch: int, number: int) -> AbstractContextManager[Rows]: ...

    def damaged(self, batch: int, number: int, error: DamagedState) -> NetdiagError: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What all batches of one following have in common; `folder` as its files are called in rows."""

    folder: str
    store: Keeping
    options: ReadOptions
    classes: int
    since_ns: int | None = None
    until_ns: int | None = None

    def follower(self, batch: int, number: int) -> Follower:
        """The class of that number as it was behind a batch."""
        options = replace(self.options, flow_class=(number, self.classes))
        state = self.store.state(batch, number) if batch else None
        try:
            return Follower(options, state, since_ns=self.since_ns, until_ns=self.until_ns)
        except DamagedState as error:
            raise self.store.damaged(batch, number, error) from error


def step(work: Work, plan: Plan, number: int) -> dict[str, Any]:
    """Do a batch; gives what was read and how many rows there are now, all in all."""
    follower = work.follower(plan.batch - 1, number)
    _take_in(work, plan, follower)
    with work.store.parts(plan.batch, number) as parts:
        _write(follower.read(plan.until), parts)
    state = follower.save()
    work.store.keep_state(plan.batch, number, state)
    now = open_again(work, plan.batch, number)
    return {
        "class": number,
        "packets": now.packets,
        "first": now.first,
        "last": now.last,
        "rows": dict(now.rows),
        "state": len(state),
    }


def open_again(work: Work, batch: int, number: int) -> Tally:
    """Write the rows that there would be if nothing more came than a batch has taken; what was read for them."""
    copy = work.follower(batch, number)
    with work.store.open_parts(batch, number) as parts:
        _write(copy.finish(), parts)
    return copy.tally


def _write(batches: Iterable[Mapping[str, Sequence[Batch]]], parts: Rows) -> None:
    for ready in batches:
        parts.add(ready)
    parts.finish()


def _take_in(work: Work, plan: Plan, follower: Follower) -> None:
    """Tell what may be read now."""
    for file in sorted(plan.files, key=lambda each: each.number):
        name = str(Path(work.folder, file.name))
        follower.allow(
            number=file.number,
            name=name,
            path=os.path.abspath(name),
            first_time=file.first_time,
            late=file.late,
            inode=file.inode,
            begin=bytes.fromhex(file.begin),
            size=file.taken,
            ended=file.ended,
            quiet=file.quiet,
            gone=file.gone,
        )
