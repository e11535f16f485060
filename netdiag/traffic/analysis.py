"""What `analyze` found: answers, findings, and what was looked at. Values only, so that they can be drawn anywhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netdiag.findings import Finding
from netdiag.traffic.buckets import Buckets


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
