"""Random topologies: what is predicted from the file and from inspect is what happens, in every cell.

`make test` meets two fixed worlds on the machine's own engine, with and without userland proxy. `make bars
BARS=random-worlds` meets 50 held-out ones on every engine (`NETDIAG_WORLDS` says how many), going on where it stopped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from netdiag.deployment.model.deployment import Firewall
from tests.bars.record import present_commit
from tests.figures import Report
from tests.lab.errors import LabImpossible
from tests.lab.lab import Lab, start_lab
from tests.lab.releases import NFTABLES, RELEASES
from tests.worlds.drawing import draw
from tests.worlds.meeting import Met, Miss, Tally, meet
from tests.worlds.record import Book, book, held_out_seeds, sums

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
    met = meet(running, draw(seed), tmp_path, userland_proxy=proxy)
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
        met = meet(engine, draw(seed), place, userland_proxy=proxy, firewall=firewall)
        results.add(met)
        counts = [f"{tally.source} {tally.decided - len(tally.misses)}/{tally.decided}" for tally in met.tallies]
        print(
            f"{seed}: {', '.join(counts)}", *(f"  {miss}" for tally in met.tallies for miss in tally.misses), sep="\n"
        )


def _judge(found: list[Met], figure: Report, where: str) -> None:
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
    met = Met(
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
