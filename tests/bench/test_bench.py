"""`make bench`: its captures are what they should be, and it goes on where it was, counts, judges and writes a page.

Real clients are recorded for a moment in a network of their own; copies in a larger capture stay whole and are told
apart by address and time; what is made is what the maker says, for our engine and for tshark.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bench import __main__ as driver
from tests.bench import captures, cases, peers, results
from tests.bench.captures import Capture, NoRoom, Recipe, obtain
from tests.bench.cases import Contestant
from tests.bench.growing import cut, grow
from tests.bench.making import make
from tests.bench.page import render
from tests.bench.peers import Tshark, messages, tshark
from tests.bench.recording import CannotRecord, Recording, record
from tests.bench.results import LOOP, LOOPS, START, Result
from tests.bench.running import Cost, cached, least, median, run, uncached
from tests.bench.verdicts import of
from tests.native.reading import rows_of_files

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
    monkeypatch.setattr(cases, "_GIVEN_BACK", 0)
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
    facts: dict[str, int | str] = {"capture": "chatty, 3 GB", "bytes": 3 * 10**9, "packets": 7}
    walls: dict[str, float] = {"1 core": 11, "2 cores": 9, START: 1, LOOP: 3, LOOPS: 4}
    slow = _result("cores-chatty-3000", walls, facts)
    page = render({slow.case: slow})
    what = "chatty, 3 GB: two cores are so many times as fast as one, without the start"
    assert f"| {what} | 1.25 (loops without memory 1.50) | at least 1.6 | not met |" in page
    assert "| 2 cores | 9.00 | 9.00 | 333 | 240 |" in page
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


@pytest.mark.bar("engine-rate", long=True)
def test_what_clients_say_is_in_the_capture(tmp_path: Path) -> None:
    path = tmp_path / "seed.pcap"
    try:
        recording = record(path, "chatty", 8)
    except CannotRecord as error:
        pytest.skip(str(error))
    rows = rows_of_files(path, tables=frozenset({"exchanges"}))["exchanges"]
    sizes = [packet.length for packet in rows_of_files(path, tables=frozenset({"packets"}))["packets"]]
    assert {int(row.broker.rpartition(":")[2]) for row in rows} == set(recording.ports)
    assert recording.dropped == 0
    assert {"Produce", "Metadata", "ApiVersions", "JoinGroup"} <= {row.api_name for row in rows}
    # cut to the wire, not to the memory of the loopback interface
    assert max(sizes) <= 1514


def _exchanges(path: Path) -> Sequence[Any]:
    return rows_of_files(path, tables=frozenset({"exchanges"}))["exchanges"]


def _packets(path: Path) -> int:
    return len(rows_of_files(path, tables=frozenset({"packets"}))["packets"])


def test_copies_are_clusters_of_their_own_one_after_another(tmp_path: Path) -> None:
    seed, grown = tmp_path / "seed.pcap", tmp_path / "grown.pcap"
    made = make(seed, 200_000, connections=8)
    size = seed.stat().st_size
    packets = grow(seed, grown, 3 * size, (9092,))
    assert packets >= 3 * made.packets - 1
    rows = _exchanges(grown)
    assert 3 * made.exchanges - 1 <= len(rows) <= 3 * made.exchanges
    assert len({row.broker for row in rows}) == 3
    assert len({row.client for row in rows}) == 24
    times = [row.time for row in rows]
    assert times == sorted(times)


def test_what_is_cut_off_ends_at_a_packet(tmp_path: Path) -> None:
    seed, grown, part = tmp_path / "seed.pcap", tmp_path / "grown.pcap", tmp_path / "part.pcap"
    made = make(seed, 200_000, connections=8)
    size = seed.stat().st_size * 5 // 2
    packets = grow(seed, grown, size, (9092,))
    assert size - 2000 < grown.stat().st_size <= size
    assert 2 * made.packets < packets < 3 * made.packets
    assert _packets(grown) == packets
    packets = cut(seed, part, 100_001)
    assert 98_000 < part.stat().st_size <= 100_001
    assert _packets(part) == packets


_HOLD = """
import subprocess, sys, time
held = bytearray(b"x") * (int(sys.argv[1]) << 20)
if len(sys.argv) > 2:
    subprocess.run([sys.executable, "-c", sys.argv[3], sys.argv[2]])
time.sleep(1)
"""


def test_memory_is_that_of_all_processes_and_not_of_ours() -> None:
    ballast = bytearray(b"x") * (300 << 20)
    alone = run([sys.executable, "-c", _HOLD, "60"])
    assert 60 < alone.together < 200 < len(ballast) >> 20
    both = run([sys.executable, "-c", _HOLD, "60", "90", _HOLD])
    assert both.largest < 150 <= both.together


def test_processor_time_is_that_of_children_too(tmp_path: Path) -> None:
    work = "import time\nwhile time.process_time() < 0.5: pass"
    cost = run([sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}])"])
    assert cost.cpu >= 0.5
    assert cost.wall >= 0.5
    assert cost.status == 0


def test_output_and_status_are_kept(tmp_path: Path) -> None:
    output, errors = tmp_path / "output", tmp_path / "errors"
    program = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert run([sys.executable, "-c", program], output=output, errors=errors).status == 3
    assert (output.read_text(), errors.read_text()) == ("out\n", "err\n")


def test_the_median_and_the_least_are_taken_figure_by_figure() -> None:
    costs = [Cost(status=0, wall=w, cpu=c, largest=m, together=m) for w, c, m in ((1, 9, 5), (2, 7, 6), (3, 8, 4))]
    assert median(costs) == Cost(status=0, wall=2, cpu=8, largest=6, together=6)
    assert least(costs) == Cost(status=0, wall=1, cpu=7, largest=6, together=6)


def test_a_file_is_whole_in_memory_or_out_of_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100_000)
    uncached(path)
    cached(path)
    assert path.read_bytes() == b"x" * 100_000


@pytest.mark.parametrize(("connections", "largest"), [(1, 0), (7, 0), (60, 0), (300, 0), (60, 100_000)])
def test_every_exchange_that_is_made_is_found_whole(tmp_path: Path, connections: int, largest: int) -> None:
    path = tmp_path / "made.pcap"
    made = make(path, 500_000, connections=connections, largest=largest)
    rows = rows_of_files(path, tables=frozenset({"exchanges", "losses", "connections"}))
    exchanges = rows["exchanges"]
    assert len(exchanges) == made.exchanges >= connections
    assert {(row.outcome, row.decoded) for row in exchanges} == {("answered", "full")}
    assert len(rows["connections"]) == connections
    assert rows["losses"] == []
    assert path.stat().st_size > 400_000
    assert max(row.response_bytes or 0 for row in exchanges) > largest


def test_what_is_seen_several_times_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "made.pcap"
    made = make(path, 500_000, connections=20, sightings=3)
    rows = rows_of_files(path, tables=frozenset({"exchanges", "losses", "connections"}))
    assert len(rows["exchanges"]) == made.exchanges
    assert {len(row.seen_as or ()) for row in rows["connections"]} == {2}
    assert len(rows["connections"]) == 20
    assert rows["losses"] == []


def test_tshark_finds_as_many(tmp_path: Path) -> None:
    found = tshark()
    if found is None:
        pytest.skip("no command 'tshark'")
    path = tmp_path / "made.pcap"
    made = make(path, 300_000, connections=50)
    assert _counted(found, path, tmp_path / "output") == 2 * made.exchanges


def _counted(found: Tshark, path: Path, output: Path) -> int:
    capture = Capture(path=path, recipe=Recipe(mix="made", megabytes=1), ports=(9092,), packets=0)
    with output.open("wb") as file:
        subprocess.run(found.command(capture), stdout=file, stderr=subprocess.DEVNULL, check=True)
    return messages(output)
