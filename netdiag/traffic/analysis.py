"""What `analyze` found: answers, findings, and what was looked at. Values only, so that they can be drawn anywhere."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from netdiag.findings import Finding
from netdiag.values import dataclass

# As many as a screen can tell apart; a page of them stays small whatever the capture holds.
MOST_BUCKETS = 240
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


def buckets(first: int, last: int, most: int = MOST_BUCKETS) -> Buckets:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The first rows of an aggregate, what matters most first, and how many there are in all."""

    rows: tuple[Mapping[str, Any], ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was read: files, packets, and the times of the first and the last (nanoseconds since 1970 UTC)."""

    files: tuple[str, ...] = ()
    bytes: int = 0
    packets: int = 0
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """What a report draws beside the answers: rows by the name of the chart, and the buckets that they speak of."""

    span: Buckets
    answers: Mapping[str, Answer] = field(default_factory=dict)

    def rows(self, name: str) -> tuple[Mapping[str, Any], ...]:
        """The rows of a chart."""
        return self.answers.get(name, Answer()).rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """`protocols`: connections by what they speak. `answers` by the names of the aggregates.

    `charts` where a report was asked for, and there is a moment to draw.
    """

    seen: Seen
    connections: int = 0
    protocols: Mapping[str, int] = field(default_factory=dict)
    answers: Mapping[str, Answer] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    charts: Charts | None = None

    @property
    def exchanges(self) -> int:
        """How many Kafka exchanges there are."""
        return sum(int(row["exchanges"]) for row in self.rows("coverage"))

    def rows(self, name: str) -> tuple[Mapping[str, Any], ...]:
        """The rows of an answer."""
        return self.answers.get(name, Answer()).rows
