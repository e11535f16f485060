"""Findings drawn at random to be judged by hand, and what the judgements amount to."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from math import sqrt
from pathlib import Path

from tools.survey.checking import Finding
from tools.survey.listing import read_rows, write_rows

SEED = "netdiag survey, draw 3"
DRAWN = 100
TRUE, FALSE, UNDECIDABLE = "true", "false", "undecidable"
JUDGED = ("error", "warning")
_Z = 1.959964


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What somebody who has read the file says of a finding; no judgement yet where it is empty."""

    repository: str
    path: str
    line: int
    rule: str
    severity: str
    judgement: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """Of the decidable findings of a severity, the share that is true, with its 95 % interval of Wilson."""

    true: int
    false: int
    undecidable: int

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self.true / (self.true + self.false) if self.true + self.false else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """From, to."""
        return wilson(self.true, self.true + self.false)


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The interval of Wilson at 95 %."""
    if not of:
        return 0.0, 1.0
    share = hits / of
    middle = (share + _Z**2 / (2 * of)) / (1 + _Z**2 / of)
    half = _Z / (1 + _Z**2 / of) * sqrt(share * (1 - share) / of + _Z**2 / (4 * of**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def draw(findings: Iterable[Finding], severity: str, *, seed: str = SEED, count: int = DRAWN) -> list[Judgement]:
    """Findings of a severity, at most one of a rule in a file: its first one. Only chance and the seed decide."""
    first: dict[tuple[str, str, str], Finding] = {}
    for one in sorted(findings, key=lambda one: (one.repository, one.path, one.line)):
        if one.severity == severity:
            first.setdefault((one.repository, one.path, one.rule), one)
    order = sorted(first, key=lambda key: hashlib.sha256("\0".join((seed, *key)).encode()).hexdigest())
    return [
        Judgement(repository=one.repository, path=one.path, line=one.line, rule=one.rule, severity=severity)
        for one in (first[key] for key in order[:count])
    ]


def precision(judgements: Sequence[Judgement], severity: str) -> Precision:
    """That of the judged findings of a severity."""
    said = [one.judgement for one in judgements if one.severity == severity]
    return Precision(true=said.count(TRUE), false=said.count(FALSE), undecidable=said.count(UNDECIDABLE))


def read_judgements(path: Path) -> list[Judgement]:
    """As they are kept."""
    return [
        Judgement(
            repository=row["repository"],
            path=row["path"],
            line=int(row["line"]),
            rule=row["rule"],
            severity=row["severity"],
            judgement=row["judgement"],
            reason=row["reason"],
        )
        for row in read_rows(path)
    ]


def write_judgements(path: Path, judgements: Iterable[Judgement]) -> None:
    """Keep them."""
    write_rows(path, [field.name for field in fields(Judgement)], (astuple(one) for one in judgements))
