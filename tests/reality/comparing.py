"""Held side by side: what was foretold, and what came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from netdiag.topology.hops import End, Path
from netdiag.topology.proof import Agreement, agreement
from tests.reality.attempts import Result

# In the place of an errno: the name was never an address.
UNRESOLVED = "UNRESOLVED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One try; `name` tells from where to what."""

    name: str
    path: Path
    result: Result

    @property
    def agreement(self) -> Agreement:
        """Whether both are the same."""
        if UNRESOLVED in (self.result.errno, self.path.end.name):
            alike = (self.result.errno, self.path.end) == (UNRESOLVED, End.UNRESOLVED)
            return Agreement.AGREES if alike else Agreement.DISAGREES
        return agreement(self.path, self.result.errno, closed=self.result.closed)

    def __str__(self) -> str:
        came = self.result.errno or ("closed" if self.result.closed else "connected")
        foretold = f"{self.path.end.value} {self.path.errno}".rstrip()
        return f"{self.name}: foretold {foretold} ({self.path.because}), came {came} after {self.result.seconds:.2f} s"


def tally(cells: Sequence[Cell]) -> str:
    """How many agree, in one line, and of which kinds they are."""
    agree = sum(cell.agreement is Agreement.AGREES for cell in cells)
    open_ = sum(cell.agreement is Agreement.OPEN for cell in cells)
    kinds = Counter(cell.path.end.value for cell in cells)
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return f"{agree}/{len(cells)} agree, {open_} not foretold ({told})"


def misses(cells: Sequence[Cell]) -> list[str]:
    """The cells that do not agree, one line each."""
    return [str(cell) for cell in cells if cell.agreement is not Agreement.AGREES]
