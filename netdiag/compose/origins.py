"""How a value came to where it counts: what was drawn in from where, recorded while the files are read."""

from dataclasses import dataclass
from typing import Literal

from netdiag.compose.positions import Span

How = Literal["alias", "extends", "include", "env_file", "variable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """One step: what stands in `area` counts because of what stands at `by`.

    Of a variable it is the other way round: `area` is the expression, `by` the place that gives it its value, and
    `name` the variable. An area of no length is its whole file.
    """

    area: Span
    by: Span
    how: How
    name: str = ""

    def covers(self, place: Span) -> bool:
        """Whether a place lies in the area; for a variable, whether it touches it."""
        if place.path != self.area.path:
            return False
        if self.how == "variable":
            return place.start < self.area.end and place.end > self.area.start
        return self.area.start == self.area.end or within(place, self.area)


def within(place: Span, area: Span) -> bool:
    """Whether a place lies in an area."""
    return place.path == area.path and area.start <= place.start and place.end <= area.end


def way_home(place: Span, origins: tuple[Origin, ...], homes: tuple[Span, ...]) -> tuple[Origin, ...]:
    """The shortest way from a place to one of its homes, step by step; empty when it is at home or there is none."""
    ways: list[tuple[Span, tuple[Origin, ...]]] = [(place, ())]
    seen = {place}
    for here, steps in ways:
        if any(within(here, home) for home in homes):
            return steps
        for origin in origins:
            if origin.how != "variable" and origin.by not in seen and origin.covers(here):
                seen.add(origin.by)
                ways.append((origin.by, (*steps, origin)))
    return ()
