"""What a batch takes: which files, up to which byte, up to which time. A plan says all that its work depends on."""

import json
from dataclasses import asdict, replace
from typing import Any

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
