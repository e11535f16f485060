"""The driver of `make bench`: it goes on where it was, counts, judges and writes a page of what was measured."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench import __main__ as driver
from tests.bench import captures, cases, peers, results
from tests.bench.captures import NoRoom, Recipe, obtain
from tests.bench.cases import Contestant
from tests.bench.page import render
from tests.bench.recording import CannotRecord, Recording
from tests.bench.results import Result
from tests.bench.running import Cost
from tests.bench.verdicts import of

SIZES = cases.Sizes(megabytes=1, compared=1, gigabytes=(), rounds=1)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a machine where no clients can be recorded."""

    def refuse(*_: object) -> Recording:
        raise CannotRecord("not in this test")

    monkeypatch.setenv("NETDIAG_BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(captures, "record", refuse)
    monkeypatch.setattr(driver, "warmed", lambda: None)
    monkeypatch.setattr(driver, "PAGE", tmp_path / "benchmarks.md")
    monkeypatch.setattr(results, "present_commit", lambda: "abc")
    return tmp_path


def test_where_no_clients_can_be_recorded_our_generator_stands_in_and_the_page_says_so(cache: Path) -> None:
    assert driver.main(["bulk", "--megabytes", "1", "--rounds", "1"]) == 0
    page = (cache / "benchmarks.md").read_text()
    assert "made by our own generator" in page
    assert "1 MB over 200 connections" in page
    assert "as many messages as tshark finds" in page or peers.tshark() is None
    assert "(smaller than promised)" in page
    assert str(cache) not in page


def test_a_round_that_was_measured_is_not_measured_again(cache: Path) -> None:
    count = cache / "count"
    counting = Contestant(name="one", command=("sh", "-c", f"echo >> {count}"))
    captures.cache().mkdir()
    first = cases.measured("few", [counting], 2, {}, [])
    assert cases.measured("few", [counting], 2, {}, []) == first
    more = cases.measured("few", [counting], 3, {}, [])
    assert more.rounds["one"][:2] == first.rounds["one"]
    assert count.read_text() == 3 * "\n"


def test_what_fails_is_told_and_makes_no_figure(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "netdiag", lambda path: ("sh", "-c", "echo no luck >&2; exit 3"))
    with pytest.raises(cases.Failed, match="ended with 3: no luck"):
        cases.cold(SIZES)
    assert not results.newest()


def test_a_disk_that_is_too_small_is_told_before_anything_is_written(cache: Path) -> None:
    with pytest.raises(NoRoom):
        obtain(Recipe(mix="made", megabytes=10**9, connections=5))


def _result(case: str, walls: dict[str, float], facts: dict[str, int | str]) -> Result:
    rounds = {name: (Cost(status=0, wall=wall, cpu=wall, largest=9, together=240),) for name, wall in walls.items()}
    return replace(results.blank(case), rounds=rounds, facts=facts)


def test_what_is_asked_of_the_rate_follows_tsharks_version() -> None:
    facts: dict[str, int | str] = {"capture": "bulk", "bytes": 3 * 10**9, "packets": 1}
    counted: dict[str, int | str] = {"messages of netdiag": 5, "messages of tshark": 5}
    for version, walls, met in (
        ("4.0.17", 59, False),
        ("4.0.17", 61, True),
        ("4.4.18", 46, True),
        ("4.4.18", 44, False),
    ):
        result = _result("rate-bulk-3000", {"netdiag": 1, "tshark": walls}, {**facts, **counted, "tshark": version})
        rate, count, memory = of(result.case, result)
        assert (rate.met, rate.complete, count.met, memory.met) == (met, True, True, False)
    fewer = _result(
        "rate-bulk-3000",
        {"netdiag": 1, "tshark": 50},
        {**facts, "messages of netdiag": 4} | {"messages of tshark": 5, "tshark": "4.4.18"},
    )
    assert [verdict.met for verdict in of(fewer.case, fewer)] == [True, False, False]


def test_rising_sizes_are_compared_without_the_start() -> None:
    facts: dict[str, int | str] = {"bytes of 1 GB": 10**9, "bytes of 16 GB": 16 * 10**9}
    for largest, met in ((17.0, True), (18.2, False), (14.0, False)):
        result = _result("linear-1-16", {"1 MB": 0.5, "1 GB": 1.5, "16 GB": largest}, facts)
        verdict, _ = of(result.case, result)
        assert (verdict.met, verdict.complete) == (met, True), largest


def test_the_page_has_every_case_with_its_load_and_its_commit() -> None:
    facts: dict[str, int | str] = {"capture": "bulk, 3 GB", "bytes": 3 * 10**9, "packets": 7}
    slow = _result("cores-3000", {"1 core": 10, "2 cores": 8}, facts)
    page = render({slow.case: slow})
    assert "| bulk, 3 GB: two cores are so many times as fast as one | 1.25 | at least 1.6 | not met |" in page
    assert "| 2 cores | 8.00 | 8.00 | 375 | 240 |" in page
    assert f"commit {slow.commit}" in page
    assert "load up to" in page


def test_sums_and_the_whole_analysis_are_held_against_the_empty_job() -> None:
    facts: dict[str, int | str] = {"capture": "bulk, 3 GB", "bytes": 3 * 10**9, "packets": 7}
    walls = {"empty job": 5.0, "partial sums": 7.3, "netdiag analyze": 11.0}
    result = _result("spark-3000", walls, facts)
    sums, whole = of(result.case, result)
    assert (sums.met, whole.met, sums.complete) == (True, False, True)
    assert whole.figure == "2.00 s/GB (11.0 s, empty 5.0 s)"


def test_messages_in_sums_are_added(tmp_path: Path) -> None:
    (tmp_path / "sums").write_text('{"requests": 3, "responses": 2}\n{"requests": 1, "responses": 0}\n')
    assert peers.messages_in_sums(tmp_path / "sums") == 6
