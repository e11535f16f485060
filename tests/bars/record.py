"""What one bar gave at one commit, kept under .cache/bars/COMMIT/NAME.json."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.house.tree import ROOT

RECORDS = ROOT / ".cache" / "bars"
PAGE = ROOT / "docs" / "bars.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """`verdict` is "met", "FAILED" or "no test yet"; `date` is ISO 8601 in UTC; `figures` are printed as they are."""

    name: str
    commit: str
    date: str
    verdict: str
    seconds: float
    figures: tuple[str, ...]


def present_commit() -> str:
    """The short hash of HEAD, with a plus sign where the tree differs from it (the page of the bars apart)."""
    head = _git("rev-parse", "--short=10", "HEAD").strip()
    changed = _git("status", "--porcelain", "--", ".", f":!{PAGE.relative_to(ROOT)}").strip()
    return f"{head}+" if changed else head


def save(record: Record, folder: Path | None = None) -> None:
    """Write a record where `load` finds it."""
    path = (folder or RECORDS) / record.commit / f"{record.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def records(folder: Path | None = None) -> Iterator[Record]:
    """Every record there is, of every commit."""
    for path in (folder or RECORDS).glob("*/*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        yield Record(**{**content, "figures": tuple(content["figures"])})


def newest(folder: Path | None = None) -> dict[str, Record]:
    """The last record of each bar, whichever its commit."""
    return {record.name: record for record in sorted(records(folder), key=lambda record: record.date)}


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout
