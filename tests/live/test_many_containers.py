"""Many containers at once: the whole matrix is observed, nothing is left behind, and a watch tells what happens.

Fifty of them, on twelve networks, look at every endpoint in time and in little memory.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.figures import Report
from tests.lab.image_set import CLIENT
from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.stack import Stack
from tests.live.engine_log import EngineLog, between
from tests.live.many_containers import ManyContainers
from tests.live.prometheus import free_port, scraping
from tests.live.runs import Watched, measured, traces, watching
from tests.live.stacks import check
from tests.render.test_watch import SCHEMA

PEAK = 150
FEW = ManyContainers(brokers=3, clients=4)
LIVE = ("check-listeners", "--live", "--host")
# Seconds between two looks, and between two scrapes.
EVERY, SCRAPE = 2, 1


@pytest.fixture(scope="module")
def stack(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with lab.up(FEW.write(tmp_path_factory.mktemp("containers")), wait="none") as up:
        listening(up, FEW.brokers)
        yield up


def listening(stack: Stack, brokers: int) -> None:
    """Wait until every stub serves."""
    script = "for n in $(seq 600); do [ $(ss -Hltn | grep -c ':29092 ') = 1 ] && exit 0; sleep 0.1; done; exit 1"
    found = [one for one in stack.containers() if one.service.startswith("broker-")]
    assert len(found) == brokers
    for one in found:
        run(["nsenter", f"--net=/proc/{one.pid}/ns/net", "sh", "-c", script], timeout=70)


def observed(
    stack: Stack, tmp_path: Path, containers: ManyContainers, figure: Report, *, timeout: float = 4, runs: int = 1
) -> list[float]:
    """So many runs of the command; gives their seconds, with everything else asserted of the last."""
    before = traces(stack)
    with between(stack.engine.record.socket, EngineLog(tmp_path / "engine")) as log:
        words = (*LIVE, log.url, "-p", stack.project, "--format", "json", "--timeout", str(timeout))
        *others, done = [measured(*words) for _ in range(runs)]
    assert traces(stack) == before
    assert {line.split()[0] for line in log.asked} <= {"GET", "HEAD"}
    assert log.asked
    assert log.changing == []
    assert {key: value for key, value in before.items() if key.endswith(": files") and value} == {}
    document = done.document
    cells = document["matrix"]
    assert document["skipped"] == []
    vantages = {cell["vantage"] for cell in cells}
    assert len(vantages) == 1 + containers.brokers + containers.clients
    assert len(cells) == len(vantages) * len({cell["bootstrap"] for cell in cells})
    unobserved = [cell for cell in cells if cell["observed"] is None]
    assert unobserved == []
    differing = [cell for cell in cells if cell["agrees"] is False]
    assert differing == []
    figure(f"{containers.brokers + containers.clients} containers: cells", len(cells))
    figure(f"{containers.brokers + containers.clients} containers: peak memory of the command", done.peak, "MiB")
    assert done.peak < PEAK
    return [one.seconds for one in (*others, done)]


@pytest.mark.bar("live-scale")
@pytest.mark.bar("live-hostile")
def test_a_few_containers_are_seen_whole_and_left_as_they_were(stack: Stack, tmp_path: Path, figure: Report) -> None:
    # Nobody makes it wait; a busy machine may need more time than people have.
    observed(stack, tmp_path, FEW, figure, timeout=30)


def leaks(stack: Stack, runs: int) -> None:
    def standing() -> tuple[int, int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count(), len(namespaces())

    check(stack, timeout=2)
    before = standing()
    for _ in range(runs):
        check(stack, timeout=2)
    assert standing() == before


def namespaces() -> set[str]:
    """The network namespaces that this process holds: by its threads and by its descriptors."""
    links = [f"/proc/self/task/{task}/ns/net" for task in os.listdir("/proc/self/task")]
    links += [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    found: set[str] = set()
    for link in links:
        try:
            target = os.readlink(link)
        except OSError:
            continue
        if target.startswith("net:"):
            found.add(target)
    return found


@pytest.mark.bar("live-leaks")
def test_ten_looks_leave_nothing_open(stack: Stack) -> None:
    leaks(stack, 10)


@pytest.mark.bar("live-leaks", long=True)
def test_two_hundred_looks_leave_nothing_open(stack: Stack, figure: Report) -> None:
    leaks(stack, 200)
    figure("descriptors, threads, namespaces left after 200 looks", 0)


Wanted = Callable[[dict[str, Any]], bool]


def cell(where: str, turn: str, vantage: str = "inside broker-1") -> Wanted:
    return lambda line: (line["vantage"], line["bootstrap"], line["turn"]) == (vantage, where, turn)


def broker(name: str, turn: str) -> Wanted:
    return lambda line: (line["broker"], line["turn"]) == (name, turn)


@pytest.mark.bar("watch-delay")
def test_a_watch_tells_what_breaks_and_what_comes_back(stack: Stack, tmp_path: Path) -> None:
    docker, two = stack.engine.docker, stack.container("broker-2")
    log = EngineLog(tmp_path / "engine")
    with watching("--host", log.url, "--watch=2", "--timeout", "1") as watch:
        watch.until(lambda line: line["kind"] == "input" and line["turn"] == "new")
        with between(stack.engine.record.socket, log):
            watch.until(lambda line: line["kind"] == "input" and line["turn"] == "back")
            watch.until(cell("broker-2:29092", "new"))
            docker("stop", "-t", "0", two)
            watch.until(broker("broker-2", "broke"))
            watch.until(cell("broker-2:29092", "broke"))
        watch.until(lambda line: line["kind"] == "input" and line["turn"] == "broke")
        docker("start", two)
        listening(stack, FEW.brokers)
        here = len(watch.lines)
        with between(stack.engine.record.socket, log):
            watch.until(lambda line: line["kind"] == "input" and line["turn"] == "back", after=here)
            watch.until(broker("broker-2", "back"), after=here)
            watch.until(cell("broker-2:29092", "back"), after=here)
        assert watch.interrupted() == 130
    for _, line in watch.lines:
        jsonschema.validate(line, SCHEMA)
    assert log.changing == []


def test_a_watch_tells_what_came_and_went(stack: Stack) -> None:
    docker = stack.engine.docker
    names = [f"{stack.project}-short-{number}" for number in range(3)]
    with watching("--host", stack.engine.docker_host, "--watch=2", "--timeout", "1") as watch:
        watch.until(cell("broker-2:29092", "new"))
        here = len(watch.lines)
        for name in names:
            docker("run", "--rm", "--network", "none", "--name", name, CLIENT, "sh", "-c", "exit 3", check=False)
        # One look may fall into the life of one of them, which it has seen then.
        watch.until(lambda line: line["container"] in names[:2], after=here)
        watch.until(lambda line: line["container"] in names[1:], after=here)
        assert watch.interrupted() == 130
    told = [line for _, line in watch.lines if line["container"] is not None]
    for line in told:
        jsonschema.validate(line, SCHEMA)
        assert (line["turn"], line["reason"].endswith(" s, exit code 3")) == ("gone", True)
        assert line["reason"].startswith(f"image {CLIENT} ran for ")
    assert len({line["container"] for line in told}) == len(told)
    assert {line["container"] for line in told} <= set(names)


def dropped(stack: Stack, service: str, how: str) -> None:
    """Begin (-I) or end (-D) that what comes for Kafka is dropped in a container's namespace."""
    pid = stack.state(service).pid
    rule = ["INPUT", "-p", "tcp", "--dport", "29092", "-j", "DROP"]
    run(["nsenter", f"--net=/proc/{pid}/ns/net", "iptables", how, *rule])


@pytest.mark.alone
@pytest.mark.bar("watch-delay", long=True)
@pytest.mark.parametrize("every", [2.0, 5.0])
def test_faults_are_told_within_two_intervals(stack: Stack, figure: Report, every: float) -> None:
    docker, two = stack.engine.docker, stack.container("broker-2")
    faults: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "stopped": (lambda: docker("stop", "-t", "0", two), lambda: docker("start", two)),
        "paused": (lambda: docker("pause", two), lambda: docker("unpause", two)),
        "dropped": (lambda: dropped(stack, "broker-2", "-I"), lambda: dropped(stack, "broker-2", "-D")),
    }
    delays: list[float] = []
    with watching("--host", stack.engine.docker_host, f"--watch={every}") as watch:
        watch.until(cell("broker-2:29092", "new"))
        before = at_rest(watch, every)
        for name, (begin, end) in faults.items():
            for _ in range(2):
                delays.append(_delay(watch, begin, cell("broker-2:29092", "broke")))
                figure(f"--watch={every:g}: {name} is told after", delays[-1], "s")
                here = len(watch.lines)
                end()
                listening(stack, FEW.brokers)
                watch.until(cell("broker-2:29092", "back"), after=here)
                _settle(watch, every)
        after = at_rest(watch, every)
        assert watch.interrupted() == 130
    figure(f"--watch={every:g}: worst delay of {len(delays)} faults, in intervals", max(delays) / every)
    figure("descriptors, threads, MiB before and after", f"{before} {after}")
    assert max(delays) < 2 * every
    assert after[:2] == before[:2]


def at_rest(watch: Watched, every: float) -> tuple[int, ...]:
    """Descriptors, threads and memory between two looks: the least of each that is seen for a while."""
    end = time.monotonic() + 2 * every
    seen = [watch.standing]
    while time.monotonic() < end:
        time.sleep(0.02)
        seen.append(watch.standing)
    return tuple(map(min, zip(*seen, strict=True)))


def _delay(watch: Watched, begin: Callable[[], object], wanted: Wanted) -> float:
    here = len(watch.lines)
    begin()
    done = time.monotonic()
    return watch.until(wanted, after=here) - done


def _settle(watch: Watched, every: float) -> None:
    """Until no line has come for a while."""
    count = -1
    while count != (count := len(watch.lines)):
        time.sleep(2 * every)


@pytest.mark.alone
@pytest.mark.bar("metrics", long=True)
def test_prometheus_sees_a_broker_stop_and_return(stack: Stack, tmp_path: Path, figure: Report) -> None:
    docker, two = stack.engine.docker, stack.container("broker-2")
    query = 'netdiag_cell_usable{vantage="inside broker-1",bootstrap="broker-2:29092"}'
    port = free_port()
    words = ("--host", stack.engine.docker_host, f"--watch={EVERY}", "--metrics", str(port))
    with watching(*words) as watch, scraping(port, tmp_path, every=SCRAPE) as prometheus:
        prometheus.until(query, 1)
        watch.until(cell("broker-2:29092", "new"))
        for _ in range(3):
            docker("stop", "-t", "0", two)
            gone = prometheus.until(query, 0)
            figure("a stopped broker is seen after", gone, "s")
            docker("start", two)
            listening(stack, FEW.brokers)
            back = prometheus.until(query, 1)
            figure("its return is seen after", back, "s")
            assert max(gone, back) < 2 * EVERY + SCRAPE
        mechanism = 'netdiag_failure{vantage="inside broker-1",address="broker-2:29092"}'
        docker("stop", "-t", "0", two)
        prometheus.until(query, 0)
        assert [labels["mechanism"] for labels, _ in prometheus.ask(mechanism)] == ["name-of-stopped"]
        docker("start", two)
        listening(stack, FEW.brokers)
        prometheus.until(query, 1)
        assert prometheus.ask(mechanism) == []
        assert watch.interrupted() == 130


MANY = ManyContainers(brokers=12, clients=38, first_port=21001)


@pytest.fixture(scope="module")
def many(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with lab.up(MANY.write(tmp_path_factory.mktemp("many")), wait="none", limit=400) as up:
        listening(up, MANY.brokers)
        yield up


@pytest.mark.alone
@pytest.mark.bar("live-scale", long=True)
def test_fifty_containers_on_twelve_networks(many: Stack, tmp_path: Path, figure: Report) -> None:
    seconds = observed(many, tmp_path, MANY, figure, runs=3)
    for taken in seconds:
        figure("50 containers on 12 networks, the whole process", taken, "s")
    assert sorted(seconds)[1] < 6


@pytest.mark.alone
@pytest.mark.bar("metrics", long=True)
def test_the_metrics_of_fifty_containers_take_little_memory(many: Stack, tmp_path: Path, figure: Report) -> None:
    port = free_port()
    words = ("--host", many.engine.docker_host, "--watch=15", "--metrics", str(port))
    with watching(*words) as watch, scraping(port, tmp_path, every=SCRAPE) as prometheus:
        looks: list[tuple[float, float]] = []
        for number in range(1, 7):
            prometheus.until("netdiag_looks_total", number)
            looks.append((time.monotonic(), watch.cpu))
        ((_, cells),) = prometheus.ask("count(netdiag_cell_state == 1)")
        ((_, series),) = prometheus.ask('count({__name__=~"netdiag_.*"})')
        peak = watch.peak
        assert watch.interrupted() == 130
    (begin, used), (end, all_used) = looks[0], looks[-1]
    figure("cells", int(cells))
    figure("series", int(series))
    figure("memory after six looks, at most", peak, "MiB")
    figure("CPU of a look and its scrapes", (all_used - used) / (len(looks) - 1), "s")
    figure("share of a core, a look every 15 s", 100 * (all_used - used) / (end - begin), "%")
    assert cells >= 2_400
    assert peak < PEAK
