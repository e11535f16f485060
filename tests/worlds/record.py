"""What worlds gave at one commit, appended world by world, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bars.record import present_commit
from tests.house.tree import ROOT
from tests.worlds.meeting import Met, Miss, Tally

_FIRST_HELD_OUT = 100_000


def held_out_seeds(commit: str, count: int) -> tuple[int, ...]:
    """Seeds that nobody could know while the model of this commit was written: they are drawn from its hash."""
    found: dict[int, None] = {}
    number = 0
    while len(found) < count:
        drawn = hashlib.sha256(f"{commit} {number}".encode()).digest()
        found[_FIRST_HELD_OUT + int.from_bytes(drawn[:4], "big") % 900_000] = None
        number += 1
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """The results of one engine with or without userland proxy at one commit."""

    file: Path

    def __iter__(self) -> Iterator[Met]:
        if self.file.exists():
            for line in self.file.read_text(encoding="utf-8").splitlines():
                yield _met(json.loads(line))

    def add(self, met: Met) -> None:
        """Write it down at once."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(met)) + "\n")


def book(release: str, *, userland_proxy: bool, folder: Path | None = None) -> Book:
    """The one of this engine at the commit that is checked out."""
    name = f"{release.replace(' ', '-')}-proxy-{'on' if userland_proxy else 'off'}.jsonl"
    return Book(file=(folder or ROOT / ".cache" / "worlds" / present_commit()) / name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """All worlds of a book, by one source of predictions."""

    source: str
    decided: int
    unknown: int
    misses: tuple[Miss, ...]

    @property
    def right(self) -> float:
        """The share that came out as predicted, of the cells that were decided."""
        return 1 - len(self.misses) / max(self.decided, 1)


def sums(found: Sequence[Met]) -> tuple[Sum, ...]:
    """One for each source."""
    sources = dict.fromkeys(tally.source for met in found for tally in met.tallies)
    return tuple(_sum(source, [t for met in found for t in met.tallies if t.source == source]) for source in sources)


def _sum(source: str, tallies: Sequence[Tally]) -> Sum:
    return Sum(
        source=source,
        decided=sum(tally.decided for tally in tallies),
        unknown=sum(tally.unknown for tally in tallies),
        misses=tuple(miss for tally in tallies for miss in tally.misses),
    )


def _met(document: dict[str, object]) -> Met:
    tallies = document["tallies"]
    assert isinstance(tallies, list)
    read = [Tally(**{**one, "misses": tuple(Miss(**miss) for miss in one["misses"])}) for one in tallies]
    seed, sampled, contradicted = document["seed"], document["sampled"], document["contradicted"]
    assert isinstance(seed, int)
    assert isinstance(sampled, int)
    assert isinstance(contradicted, list)
    return Met(seed=seed, tallies=tuple(read), sampled=sampled, contradicted=tuple(contradicted))
