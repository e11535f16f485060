"""Intervals of equal, round length over a span of time, at most so many: what charts over time are made of."""

from dataclasses import dataclass

# As many as a screen can tell apart; a page of them stays small whatever the capture holds.
MOST = 240
_MS, _SECOND, _MINUTE, _HOUR = 1_000, 1_000_000, 60_000_000, 3_600_000_000
_LENGTHS = (
    *(_MS * factor * power for power in (1, 10, 100) for factor in (1, 2, 5)),
    *(_SECOND * factor for factor in (1, 2, 5, 10, 15, 30)),
    *(_MINUTE * factor for factor in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * factor for factor in (1, 2, 3, 6, 12, 24)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Buckets:
    """`count` intervals of `length` microseconds from `first` on (microseconds since 1970 UTC)."""

    first: int
    length: int
    count: int

    @property
    def end(self) -> int:
        """Where the last one ends."""
        return self.first + self.length * self.count

    def begin(self, number: int) -> int:
        """Where one of them begins."""
        return self.first + self.length * number


def buckets(first: int, last: int, most: int = MOST) -> Buckets:
    """The shortest that cover both moments (microseconds) with at most so many; they begin at multiples of their
    length, so that two reports of one cluster can be laid beside one another."""
    last = max(first, last)
    for length in _LENGTHS:
        found = _covering(first, last, length)
        if found.count <= most:
            return found
    days = _LENGTHS[-1]
    length = days
    while _covering(first, last, length).count > most:
        length += days
    return _covering(first, last, length)


def _covering(first: int, last: int, length: int) -> Buckets:
    begin = first // length * length
    return Buckets(first=begin, length=length, count=(last - begin) // length + 1)
