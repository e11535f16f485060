"""What a step saw: things with named texts, or why it could not look."""

from collections.abc import Mapping
from dataclasses import field

from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that an action gives: a finding, a cell, a line of a log, an edge. `of` is its kind."""

    of: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an action gave. `why_not` is why it could not look, `fix` what to do about that; "" where it could."""

    items: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()
    why_not: str = ""
    fix: str = ""
    seconds: float = field(default=0.0, compare=False)

    @property
    def looked(self) -> bool:
        """Whether the action could look."""
        return not self.why_not
