"""What is measured: for each case some captures, and the commands that read them in turn, round after round."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench import peers, results
from tests.bench.captures import Capture, Recipe, cache, obtain
from tests.bench.results import ALL_COLUMNS, LOOP, LOOPS, START, Result
from tests.bench.running import Cost, cached, median, run, uncached

LARGE_MESSAGE = 100_000_000
_FIRST = 400
# Seconds until the host has the memory that was freed, and more.
_GIVEN_BACK = 6.0
# So often what takes seconds is run beside what takes minutes.
_AGAINST_MINUTES = 5
_SMALL = Recipe(mix="made", megabytes=1, connections=20)
_ON_CORES = ("taskset", "--cpu-list")
_LOOP = "for number in range(30_000_000): pass"
_WARM = """
from netdiag.io.spark import warm_up
warm_up.make()
"""
_EMPTY_JOB = ("-m", "tests.bench.empty_job")
_SUMS_JOB = ("-m", "tests.bench.sums_job")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is read: megabytes for rates, gigabytes where sizes are compared, and how often."""

    megabytes: int = 3000
    compared: int = 1000
    gigabytes: tuple[int, ...] = (1, 4)
    rounds: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A command. `counts` says how many messages are in what it wrote.

    `times`: so often in every round, of which the median counts. What takes seconds meets one moment of a machine whose
    speed changes within minutes; what takes minutes meets all of them.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[], None] | None = None
    counts: Callable[[Path], int] | None = None
    may_find_nothing: bool = False
    times: int = 1


def warmed() -> None:
    """Have made what `doctor --warm` makes before anything is timed: once on a machine, for every release."""
    print("keeping Java's classes", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-c", _WARM], check=True)


def rate(mix: str, sizes: Sizes) -> Result:
    """The engine, tshark with the same columns, and what merely reads the file."""
    capture = obtain(Recipe(mix=mix, megabytes=sizes.megabytes))
    tshark = peers.tshark()
    contestants = [
        Contestant(
            name="netdiag",
            command=peers.netdiag(capture.path, columns=peers.COLUMNS),
            counts=peers.messages_in_arrow,
            times=_AGAINST_MINUTES,
        ),
        replace(_ours(capture, name=ALL_COLUMNS, counted=False), times=_AGAINST_MINUTES),
    ]
    facts = _told(capture)
    if tshark:
        facts["tshark"] = tshark.version
        command = tshark.command(capture)
        contestants.append(Contestant(name="tshark", command=command, counts=peers.messages))
    contestants += [Contestant(name=name, command=command) for name, command in peers.floors(capture)]
    return measured(f"rate-{mix}-{sizes.megabytes}", contestants, sizes.rounds, facts, [capture])


def first(sizes: Sizes) -> Result:
    """The first run on a machine, with empty caches, as Arrow and as CSV, and tshark with the same columns."""
    capture = obtain(Recipe(mix="bulk", megabytes=min(_FIRST, sizes.megabytes)))
    home = cache() / "empty-home"

    def emptied() -> None:
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()

    environment = {"HOME": str(home), "XDG_CACHE_HOME": str(home)}
    contestants = [
        Contestant(
            name=name,
            command=peers.netdiag(capture.path, format, peers.COLUMNS),
            environment=environment,
            prepare=emptied,
            counts=counts,
        )
        for name, format, counts in (
            ("netdiag", "arrow", peers.messages_in_arrow),
            ("netdiag --format csv", "csv", None),
        )
    ]
    facts = _told(capture)
    if tshark := peers.tshark():
        facts["tshark"] = tshark.version
        contestants.append(Contestant(name="tshark", command=tshark.command(capture), counts=peers.messages))
    return measured(f"first-{_FIRST}", contestants, sizes.rounds, facts, [capture])


def cold(sizes: Sizes) -> Result:
    """The engine and cat, on a file that is not in memory.

    A virtual machine may give free memory back to its host, within seconds, and pays for having it again. So that both
    pay the same, each begins when all has been given back.
    """
    capture = obtain(Recipe(mix="bulk", megabytes=sizes.megabytes))

    def forgotten() -> None:
        uncached(capture.path)
        time.sleep(_GIVEN_BACK)

    ours = ("netdiag", peers.netdiag(capture.path))
    contestants = [
        Contestant(name=name, command=command, prepare=forgotten)
        for name, command in (ours, ("cat", ("cat", str(capture.path))))
    ]
    return measured(f"cold-{sizes.megabytes}", contestants, sizes.rounds, _told(capture), [])


def linear(sizes: Sizes) -> Result:
    """The engine on captures of rising sizes, and on next to nothing."""
    captures = {f"{size} GB": obtain(Recipe(mix="bulk", megabytes=1000 * size)) for size in sizes.gigabytes}
    name = "linear-" + "-".join(map(str, sizes.gigabytes))
    return _each(name, {START: obtain(_SMALL), **captures}, sizes.rounds)


def connections(sizes: Sizes) -> Result:
    """The same exchanges over 100 connections, over 100,000, over one, with one message that is very large, and with
    every packet seen under three addresses."""
    recipes = {
        "100": Recipe(mix="made", megabytes=sizes.compared, connections=100),
        "100,000": Recipe(mix="made", megabytes=sizes.compared, connections=100_000),
        "1": Recipe(mix="made", megabytes=sizes.compared, connections=1),
        "large message": Recipe(
            mix="made", megabytes=sizes.compared, connections=100, largest=min(LARGE_MESSAGE, sizes.compared * 100_000)
        ),
        "copies": Recipe(mix="made", megabytes=sizes.compared, connections=100, sightings=3),
    }
    return _each(f"connections-{sizes.compared}", {n: obtain(r) for n, r in recipes.items()}, sizes.rounds)


def cores(sizes: Sizes) -> Result:
    """The engine on one core and on two, beside loops without memory: virtual machines may share their cores."""
    capture, small = obtain(Recipe(mix="chatty", megabytes=sizes.megabytes)), obtain(_SMALL)
    chosen = sorted(os.sched_getaffinity(0))[:2]
    both = ",".join(map(str, chosen))
    loop = shlex.join((sys.executable, "-c", _LOOP))
    contestants = [
        Contestant(name="1 core", command=(*_ON_CORES, str(chosen[0]), *peers.netdiag(capture.path))),
        Contestant(name="2 cores", command=(*_ON_CORES, both, *peers.netdiag(capture.path))),
        Contestant(name=START, command=(*_ON_CORES, both, *peers.netdiag(small.path))),
        Contestant(name=LOOP, command=(*_ON_CORES, str(chosen[0]), "sh", "-c", loop)),
        Contestant(name=LOOPS, command=(*_ON_CORES, both, "sh", "-c", f"{loop} & {loop}; wait")),
    ]
    facts = _told(capture) | {f"bytes of {START}": small.size, f"bytes of {LOOP}": 0, f"bytes of {LOOPS}": 0}
    return measured(f"cores-chatty-{sizes.megabytes}", contestants, sizes.rounds, facts, [capture, small])


def small(sizes: Sizes) -> Result:
    """The engine's start, on a capture of 1 MB."""
    capture = obtain(_SMALL)
    words = (sys.executable, "-m", "netdiag", "exchanges", str(capture.path))
    contestants = [
        Contestant(name="bare interpreter", command=(sys.executable, "-c", "pass")),
        Contestant(name="netdiag --help", command=(sys.executable, "-m", "netdiag", "--help")),
        Contestant(name="netdiag exchanges", command=words),
        Contestant(name="netdiag exchanges --format arrow", command=(*words, "--format", "arrow")),
    ]
    return measured("small", contestants, max(5, sizes.rounds), _told(capture), [capture])


def spark(sizes: Sizes) -> Result:
    """Jobs of Spark in local[2] from their start: one that reads nothing, partial sums, and `netdiag analyze`."""
    capture = obtain(Recipe(mix="bulk", megabytes=sizes.megabytes))
    analyze = (sys.executable, "-m", "netdiag", "analyze", str(capture.path), "--master", "local[2]")
    contestants = [
        Contestant(name="empty job", command=(sys.executable, *_EMPTY_JOB)),
        Contestant(
            name="partial sums", command=(sys.executable, *_SUMS_JOB, str(capture.path)), counts=peers.messages_in_sums
        ),
        Contestant(name="netdiag analyze", command=analyze, may_find_nothing=True),
    ]
    return measured(f"spark-{sizes.megabytes}", contestants, sizes.rounds, _told(capture), [capture])


def _each(case: str, captures: Mapping[str, Capture], rounds: int) -> Result:
    facts: dict[str, int | str] = {}
    contestants = []
    for name, capture in captures.items():
        facts |= {f"{key} of {name}": value for key, value in _told(capture).items()}
        contestants.append(_ours(capture, name=name, counted=True))
    return measured(case, contestants, rounds, facts, list(captures.values()))


def _ours(capture: Capture, *, name: str = "netdiag", counted: bool) -> Contestant:
    return Contestant(
        name=name, command=peers.netdiag(capture.path), counts=peers.messages_in_arrow if counted else None
    )


def _told(capture: Capture) -> dict[str, int | str]:
    facts: dict[str, int | str] = {"capture": capture.recipe.name, "bytes": capture.size, "packets": capture.packets}
    if capture.exchanges >= 0:
        facts["messages that were made"] = 2 * capture.exchanges
    if capture.dropped:
        facts["packets that the recorder missed"] = capture.dropped
    if capture.made_instead:
        facts["made instead"] = "of real clients, who cannot be recorded here"
    return facts


def measured(
    case: str,
    contestants: Sequence[Contestant],
    rounds: int,
    facts: Mapping[str, int | str],
    warm: Sequence[Capture],
) -> Result:
    """All rounds that are not there yet. In the first one, what is written is kept and counted."""
    result = results.begun(case) or results.blank(case)
    while result.finished < rounds:
        runs: dict[str, list[Cost]] = {contestant.name: [] for contestant in contestants}
        counted = dict(facts)
        for time_of_round in range(max(contestant.times for contestant in contestants)):
            for contestant in contestants:
                if time_of_round >= contestant.times:
                    continue
                print(
                    f"{case}: round {result.finished + 1} of {rounds}: {contestant.name}", file=sys.stderr, flush=True
                )
                for capture in warm:
                    if str(capture.path) in contestant.command:
                        cached(capture.path)
                is_first = result.finished == 0 and time_of_round == 0
                runs[contestant.name].append(_run(contestant, counted, keep=is_first))
        result = result.with_round({name: median(costs) for name, costs in runs.items()}, counted)
        results.save(result)
    return result


class Failed(Exception):
    """A contestant did not come to its end."""


def _run(contestant: Contestant, counted: dict[str, int | str], *, keep: bool) -> Cost:
    with TemporaryDirectory(dir=cache()) as folder:
        output, errors = Path(folder) / "output", Path(folder) / "errors"
        cost = run(
            contestant.command,
            output=output if keep and contestant.counts else Path(os.devnull),
            errors=errors,
            environment=contestant.environment,
            prepare=contestant.prepare,
        )
        if cost.status and not (contestant.may_find_nothing and cost.status == 1):
            told = errors.read_text(encoding="utf-8", errors="replace").strip()
            raise Failed(f"{contestant.name} ended with {cost.status}: {told[-300:]}")
        if keep and contestant.counts:
            counted[f"messages of {contestant.name}"] = contestant.counts(output)
    return cost


def every(sizes: Sizes) -> Iterator[tuple[str, Callable[[], Result]]]:
    """All cases: a name to choose it by, and what measures it."""
    yield "small", lambda: small(sizes)
    yield "bulk", lambda: rate("bulk", sizes)
    yield "chatty", lambda: rate("chatty", sizes)
    yield "first", lambda: first(sizes)
    yield "cores", lambda: cores(sizes)
    yield "connections", lambda: connections(sizes)
    yield "linear", lambda: linear(sizes)
    yield "cold", lambda: cold(sizes)
    yield "spark", lambda: spark(sizes)
