"""One batch: a plan says what it takes (which files, up to which byte, up to which time), a step does it for one class.

A step goes from the state behind the last batch to the next state, with the rows between. Packets that are sure to be
the next are taken for good. Those that still have to wait, and the ends of connections that are open, are worked off by
a copy: its rows are those that there would be if nothing more came. So the tables are at any time what `analyze` says
about the same files. Everything here depends on the plan and the state before alone.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from netdiag.errors import NetdiagError
from netdiag.traffic.native import Batch, DamagedState, Follower, ReadOptions, Tally
from netdiag.values import dataclass

# So many first bytes tell a file from others.
BEGIN = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A file that batches have taken from. `taken`: up to which byte. `ended`: all of it, and no more is to come.

    `gone`: it was taken away before a later one of its series had come. `inode` and `begin`, its first bytes in
    hexadecimal, are what it is known again by.
    """

    number: int
    name: str
    first_time: int
    inode: int
    begin: str
    taken: int = 0
    ended: bool = False
    quiet: bool = False
    gone: bool = False
    late: int = 0

    def holds(self, inode: int, begin: bytes) -> bool:
        """Whether a file with these is it; it may have grown since."""
        return inode == self.inode and begin.hex().startswith(self.begin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`files`: those of which more is taken, as they are then. `until`: packets later than this wait.

    `forgotten`: files that are over and no longer there. `notes`: what there is to tell. `left`: bytes that are
    there and not taken yet.
    """

    batch: int
    files: tuple[Known, ...] = ()
    until: int = -1
    forgotten: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    left: int = 0

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """All files that batches have taken from and that are still there, after a batch."""

    batch: int = 0
    next_number: int = 0
    until: int = -1
    files: tuple[Known, ...] = ()

    def after(self, plan: Plan) -> "Catalogue":
        """As it is when a plan was carried out."""
        files = {file.number: file for file in self.files if file.number not in plan.forgotten}
        files |= {file.number: file for file in plan.files}
        highest = max((file.number + 1 for file in plan.files), default=0)
        return replace(
            self,
            batch=plan.batch,
            next_number=max(self.next_number, highest),
            until=plan.until,
            files=tuple(files.values()),
        )

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))


def plan_of(text: str) -> Plan:
    """From JSON; ValueError, KeyError or TypeError where it is none."""
    return Plan(**_taken_apart(text))


def catalogue_of(text: str) -> Catalogue:
    """From JSON; ValueError, KeyError or TypeError where it is none."""
    return Catalogue(**_taken_apart(text))


def _taken_apart(text: str) -> dict[str, Any]:
    document = json.loads(text)
    document["files"] = tuple(Known(**each) for each in document["files"])
    return {name: tuple(value) if isinstance(value, list) else value for name, value in document.items()}


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
