"""What was measured, kept round by round under .cache/bench/results, so that a stopped run goes on where it was."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from tests.bars.record import present_commit
from tests.bench.captures import cache
from tests.bench.machine import described, load
from tests.bench.running import Cost, median

START = "1 MB"
"""The contestant of rising sizes that has hardly anything to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A case at one commit. `rounds` has what each contestant cost in every round, `facts` what was counted."""

    case: str
    commit: str
    date: str
    machine: tuple[str, ...]
    load: float
    rounds: Mapping[str, tuple[Cost, ...]] = field(default_factory=dict)
    facts: Mapping[str, int | str] = field(default_factory=dict)

    def cost(self, name: str) -> Cost:
        """The median of a contestant's rounds."""
        return median(self.rounds[name])

    @property
    def finished(self) -> int:
        """How many rounds all contestants have behind them."""
        return min((len(costs) for costs in self.rounds.values()), default=0)

    def with_round(self, costs: Mapping[str, Cost], facts: Mapping[str, int | str]) -> "Result":
        """One more round."""
        rounds = {name: (*self.rounds.get(name, ()), cost) for name, cost in costs.items()}
        return replace(self, rounds=rounds, facts={**self.facts, **facts}, load=max(self.load, load()))


def blank(case: str) -> Result:
    """Of this commit on this machine, now."""
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")
    return Result(case=case, commit=present_commit(), date=date, machine=described(), load=load())


def begun(case: str) -> Result | None:
    """What there is of a case at this commit."""
    path = _path(case, present_commit())
    return _read(path) if path.exists() else None


def save(result: Result) -> None:
    """Write it where `begun` and `newest` find it."""
    path = _path(result.case, result.commit)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".part")
    scratch.write_text(json.dumps(asdict(result), indent=1) + "\n", encoding="utf-8")
    scratch.rename(path)


def newest() -> dict[str, Result]:
    """The last result of every case, of whichever commit."""
    return {result.case: result for result in sorted(_all(), key=lambda result: result.date)}


def _all() -> Iterator[Result]:
    for path in (cache() / "results").glob("*/*.json"):
        yield _read(path)


def _path(case: str, commit: str) -> Path:
    return cache() / "results" / commit / f"{case}.json"


def _read(path: Path) -> Result:
    content = json.loads(path.read_text(encoding="utf-8"))
    rounds = {name: tuple(Cost(**cost) for cost in costs) for name, costs in content["rounds"].items()}
    return Result(**{**content, "machine": tuple(content["machine"]), "rounds": rounds})
