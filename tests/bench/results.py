"""What was measured, kept round by round under .cache/bench/results, so that a stopped run goes on where it was.

The machine is described as the page shows it: what a reader needs to compare, and neither its name nor a path.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tests.bars.record import present_commit
from tests.bench.captures import cache
from tests.bench.running import Cost, least, median

_PACKAGES = ("numpy", "pyarrow", "pyspark")
_GIBI = 2**30


def described() -> tuple[str, ...]:
    """Line by line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIBI
    cores = len(os.sched_getaffinity(0))
    return (
        f"{cores} core{'s' if cores > 1 else ''}, {_processor()}, {memory:.0f} GiB of memory",
        f"Linux {platform.release()}, {_system()}",
        f"Python {platform.python_version()}, " + ", ".join(filter(None, map(_package, _PACKAGES))),
        *_java(),
    )


def load() -> float:
    """How many processes wanted to run in the last minute."""
    return round(os.getloadavg()[0], 1)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return sys.platform


def _package(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def _java() -> tuple[str, ...]:
    if (java := shutil.which("java")) is None:
        return ()
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    return (told.splitlines()[0].replace('"', ""),) if told else ()


ALL_COLUMNS = "netdiag, all columns"
START = "1 MB"
"""The contestant that has hardly anything to read."""
LOOP, LOOPS = "a loop", "two loops"
"""What a core does that reads nothing, and two of them at once."""


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

    def least(self, name: str) -> Cost:
        """The least of a contestant's rounds."""
        return least(self.rounds[name])

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
