"""Held side by side: what was predicted, and what came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netdiag.topology.graph import Path, PathEnd
from netdiag.topology.inventory import Inventory
from netdiag.topology.path.attempts import Agreement, agreement, deciding_rule
from tests.real_connections.attempts import Result

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
            alike = (self.result.errno, self.path.end) == (UNRESOLVED, PathEnd.UNRESOLVED)
            return Agreement.AGREES if alike else Agreement.DISAGREES
        return agreement(self.path, self.result.errno, closed=self.result.closed)

    def __str__(self) -> str:
        came = self.result.errno or ("closed" if self.result.closed else "connected")
        predicted = f"{self.path.end.value} {self.path.errno}".rstrip()
        return (
            f"{self.name}: predicted {predicted} ({self.path.because}), came {came} after {self.result.seconds:.2f} s"
        )


def tally(cells: Sequence[Cell]) -> str:
    """How many agree, in one line, and of which kinds they are."""
    agree = sum(cell.agreement is Agreement.AGREES for cell in cells)
    open_ = sum(cell.agreement is Agreement.OPEN for cell in cells)
    kinds = Counter(cell.path.end.value for cell in cells)
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return f"{agree}/{len(cells)} agree, {open_} not predicted ({told})"


def misses(cells: Sequence[Cell]) -> list[str]:
    """The cells that do not agree, one line each."""
    return [str(cell) for cell in cells if cell.agreement is not Agreement.AGREES]


def counted(inventory: Inventory) -> dict[tuple[int, str], int]:
    """The packets that every rule has counted."""
    return {
        (inode, f"{table.origin.value} {table.family} {table.name} {chain.name} #{rule.number}"): rule.packets
        for inode, facts in inventory.namespaces.items()
        for table in facts.ruleset.tables
        for chain in table.chains
        for rule in chain.rules
        if rule.packets is not None
    }


def unmoved(cells: Sequence[Cell], before: Inventory, after: Inventory) -> list[str]:
    """Rules that were to drop or refuse, and have counted nothing meanwhile."""
    old, new = counted(before), counted(after)
    rules = {
        (netns, str(rule)): cell.name
        for cell in cells
        if (found := deciding_rule(cell.path))
        for netns, rule in [found]
    }
    return [f"{rule} in {netns}: {name}" for (netns, rule), name in rules.items() if _still(old, new, (netns, rule))]


def _still(old: Mapping[tuple[int, str], int], new: Mapping[tuple[int, str], int], key: tuple[int, str]) -> bool:
    return key in new and new[key] == old.get(key, 0)
