"""Random topologies: what is predicted from the file and from inspect is what happens, in every cell.

`make test` compares two fixed worlds on the machine's own engine, with and without userland proxy. `make bars
BARS=random-worlds` compares 50 held-out ones on every engine (`NETDIAG_WORLDS` says how many). What worlds gave at one
commit is appended world by world, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest

from netdiag.deployment.model.deployment import Firewall
from tests.bars.record import present_commit
from tests.figures import Report
from tests.house.tree import ROOT
from tests.lab.errors import LabImpossible
from tests.lab.lab import Lab, start_lab
from tests.lab.releases import NFTABLES, RELEASES
from tests.worlds.comparison import Comparison, Miss, Tally, compare_world
from tests.worlds.random_world import draw

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

    def __iter__(self) -> Iterator[Comparison]:
        if self.file.exists():
            for line in self.file.read_text(encoding="utf-8").splitlines():
                yield _met(json.loads(line))

    def add(self, met: Comparison) -> None:
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


def sums(found: Sequence[Comparison]) -> tuple[Sum, ...]:
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


def _met(document: dict[str, object]) -> Comparison:
    tallies = document["tallies"]
    assert isinstance(tallies, list)
    read = [Tally(**{**one, "misses": tuple(Miss(**miss) for miss in one["misses"])}) for one in tallies]
    seed, sampled, contradicted = document["seed"], document["sampled"], document["contradicted"]
    assert isinstance(seed, int)
    assert isinstance(sampled, int)
    assert isinstance(contradicted, list)
    return Comparison(seed=seed, tallies=tuple(read), sampled=sampled, contradicted=tuple(contradicted))


# Two that hold most of what there is: modes, kinds of networks, a stopped container; and no address that nobody has.
FIXED = (11, 2239)
HELD_OUT = int(os.environ.get("NETDIAG_WORLDS", "50"))
INSPECT, FILE = "inspect", "the file"
LEAST_RIGHT = {INSPECT: 0.999, FILE: 0.99}


@pytest.fixture(scope="module", params=[True, False], ids=["proxy", "no-proxy"])
def engine(request: pytest.FixtureRequest, lab: Lab) -> Iterator[tuple[Lab, bool]]:
    """The session's lab, then one whose engine has no userland proxy."""
    if request.param:
        yield lab, True
        return
    with start_lab(userland_proxy=False) as bare:
        yield bare, False


@pytest.mark.parametrize("seed", FIXED)
def test_a_world_is_as_predicted(engine: tuple[Lab, bool], tmp_path: Path, seed: int) -> None:
    running, proxy = engine
    met = compare_world(running, draw(seed), tmp_path, userland_proxy=proxy)
    assert [str(miss) for tally in met.tallies for miss in tally.misses] == []
    assert met.contradicted == ()
    for tally in met.tallies:
        assert tally.decided > 100
        assert tally.unknown < tally.decided / 4


@pytest.mark.bar("random-worlds", long=True)
@pytest.mark.parametrize("proxy", [True, False], ids=["proxy", "no-proxy"])
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.usefixtures("compose_v2")
def test_held_out_worlds_are_as_predicted(tmp_path: Path, figure: Report, release: str, proxy: bool) -> None:
    seeds = held_out_seeds(present_commit(), HELD_OUT)
    results = book(release, userland_proxy=proxy)
    print(f"\nengine {release}, userland proxy {'on' if proxy else 'off'}, seeds {', '.join(map(str, seeds))}")
    left = [seed for seed in seeds if seed not in {met.seed for met in results}]
    firewall = Firewall.NFTABLES if release == NFTABLES else Firewall.IPTABLES
    if left:
        try:
            with start_lab(release=release, userland_proxy=proxy) as engine:
                _meet_all(engine, left, tmp_path, results, proxy=proxy, firewall=firewall)
        except LabImpossible as error:
            pytest.skip(str(error))
    _judge([met for met in results if met.seed in seeds], figure, f"{release}, proxy {'on' if proxy else 'off'}")


def _meet_all(engine: Lab, seeds: list[int], folder: Path, results: Book, *, proxy: bool, firewall: Firewall) -> None:
    for seed in seeds:
        place = folder / str(seed)
        place.mkdir()
        met = compare_world(engine, draw(seed), place, userland_proxy=proxy, firewall=firewall)
        results.add(met)
        counts = [f"{tally.source} {tally.decided - len(tally.misses)}/{tally.decided}" for tally in met.tallies]
        print(
            f"{seed}: {', '.join(counts)}", *(f"  {miss}" for tally in met.tallies for miss in tally.misses), sep="\n"
        )


def _judge(found: list[Comparison], figure: Report, where: str) -> None:
    figure(f"worlds, {where}", len(found))
    for one in sums(found):
        shown = f"{one.decided - len(one.misses)}/{one.decided} ({one.right:.3%}), {one.unknown} unknown"
        figure(f"right from {one.source}, {where}", shown)
    contradicted = [said for met in found for said in met.contradicted]
    figure(f"sampled by plain sockets, {where}", f"{sum(met.sampled for met in found)}, {len(contradicted)} otherwise")
    assert contradicted == []
    for one in sums(found):
        assert one.right >= LEAST_RIGHT[one.source], "\n".join(map(str, one.misses))


def test_seeds_follow_from_the_commit_and_are_held_out() -> None:
    seeds = held_out_seeds("abc", 50)
    assert seeds == held_out_seeds("abc", 50)
    assert len(set(seeds)) == 50
    assert min(seeds) >= 100_000
    assert not set(seeds) & set(held_out_seeds("abd", 50))


def test_a_world_is_the_same_for_the_same_seed() -> None:
    assert draw(7) == draw(7)
    assert draw(7).text != draw(8).text
    assert len({draw(seed).text for seed in range(200)}) == 200


def test_what_was_met_is_read_again(tmp_path: Path) -> None:
    miss = Miss(source=FILE, vantage="v", address="a:1", predicted="ok", seen="bootstrap: refused", why="w")
    met = Comparison(
        seed=100_001,
        tallies=(Tally(source=FILE, decided=10, unknown=2, misses=(miss,)),),
        sampled=3,
        contradicted=("x",),
    )
    kept = book("28", userland_proxy=False, folder=tmp_path)
    kept.add(met)
    kept.add(replace(met, seed=100_002, contradicted=()))
    assert next(iter(kept)) == met
    (total,) = sums(list(kept))
    assert (total.decided, total.unknown, len(total.misses), total.right) == (20, 4, 2, 0.9)
