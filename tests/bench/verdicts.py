"""The bars that results are held against. Each figure is a ratio within one case, so of one machine and one run.

Where netdiag is compared with others, the median of the rounds counts; where it is compared with itself on another
capture, the least: the same program takes longer only where something disturbs it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.bench.results import ALL_COLUMNS, LOOP, LOOPS, START, Result

MEMORY = 150
COLD, LINEAR, CONNECTIONS, ONE_CONNECTION, COPIES, CORES = 1.15, 1.10, 1.3, 1.1, 1.3, 1.6
SMALL_CPU, SPARK_PER_GIGABYTE = 1.0, 0.8
NEWER, OLDER = 45, 60
FIRST_NEWER, FIRST_OLDER, CSV = 30, 40, 2.0
_GIGA = 1e9
_DEBIAN_12 = "4.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A promise, what was measured, and whether that keeps it; `complete` where the measurement was of full size."""

    promise: str
    figure: str
    limit: str
    met: bool
    complete: bool = True

    @property
    def word(self) -> str:
        """As it is printed."""
        return ("met" if self.met else "not met") + ("" if self.complete else " (smaller than promised)")


def verdicts(found: Mapping[str, Result]) -> Sequence[Verdict]:
    """Of everything that was measured."""
    return [verdict for name, result in sorted(found.items()) for verdict in of(name, result)]


def of(name: str, result: Result) -> Iterator[Verdict]:
    """What one case says about the bars."""
    for kind, judge in _JUDGES.items():
        if name == kind or name.startswith(f"{kind}-"):
            yield from judge(result)


def _rate(result: Result) -> Iterator[Verdict]:
    facts, ours = result.facts, result.cost("netdiag")
    large = int(facts["bytes"]) >= 2.99 * _GIGA and "made instead" not in facts
    what = str(facts["capture"])
    if "tshark" in result.rounds:
        tshark = result.cost("tshark")
        wanted = OLDER if str(facts["tshark"]).startswith(_DEBIAN_12) else NEWER
        whole = (
            f", with all columns {tshark.wall / result.cost(ALL_COLUMNS).wall:.1f}"
            if ALL_COLUMNS in result.rounds
            else ""
        )
        yield Verdict(
            promise=f"{what}: tshark {facts['tshark']} takes so many times our wall time for the same columns",
            figure=f"{tshark.wall / ours.wall:.1f} (CPU {tshark.cpu / ours.cpu:.1f}{whole})",
            limit=f"at least {wanted}",
            met=tshark.wall / ours.wall >= wanted,
            complete=large,
        )
        counts = [int(facts[f"messages of {name}"]) for name in ("netdiag", "tshark")]
        yield Verdict(
            promise=f"{what}: as many messages as tshark finds",
            figure=f"{counts[0]:,}",
            limit=f"{counts[1]:,}",
            met=counts[0] == counts[1],
            complete=large,
        )
    yield _memory(what, ours.together, complete=large)


def _first(result: Result) -> Iterator[Verdict]:
    facts, ours = result.facts, result.cost("netdiag")
    what = f"{facts['capture']}, the first run with empty caches"
    if "tshark" in result.rounds:
        ratio = result.cost("tshark").wall / ours.wall
        wanted = FIRST_OLDER if str(facts["tshark"]).startswith(_DEBIAN_12) else FIRST_NEWER
        yield Verdict(
            promise=f"{what}: tshark {facts['tshark']} takes so many times our wall time for the same columns",
            figure=f"{ratio:.1f}",
            limit=f"at least {wanted}",
            met=ratio >= wanted,
        )
    csv = result.cost("netdiag --format csv").wall / ours.wall
    yield Verdict(
        promise=f"{what}: CSV takes so many times the wall time of Arrow",
        figure=f"{csv:.2f}",
        limit=f"at most {CSV}",
        met=csv <= CSV,
    )


def _memory(what: str, most: float, *, complete: bool) -> Verdict:
    return Verdict(
        promise=f"{what}: memory of the engine",
        figure=f"{most:.0f} MiB",
        limit=f"at most {MEMORY} MB",
        met=most * 2**20 <= MEMORY * 1e6,
        complete=complete,
    )


def _cold(result: Result) -> Iterator[Verdict]:
    ratio = result.cost("netdiag").wall / result.cost("cat").wall
    yield Verdict(
        promise=f"{result.facts['capture']}, not in memory: our wall time over that of cat",
        figure=f"{ratio:.2f}",
        limit=f"at most {COLD}",
        met=ratio <= COLD,
        complete=int(result.facts["bytes"]) >= 2.99 * _GIGA,
    )


def _cores(result: Result) -> Iterator[Verdict]:
    wall = {name: result.cost(name).wall for name in result.rounds}
    ratio = (wall["1 core"] - wall[START]) / (wall["2 cores"] - wall[START])
    yield Verdict(
        promise=f"{result.facts['capture']}: two cores are so many times as fast as one, without the start",
        figure=f"{ratio:.2f} (loops without memory {2 * wall[LOOP] / wall[LOOPS]:.2f})",
        limit=f"at least {CORES}",
        met=ratio >= CORES,
        complete=int(result.facts["bytes"]) >= 2.99 * _GIGA,
    )


def _connections(result: Result) -> Iterator[Verdict]:
    facts, few = result.facts, result.least("100")
    per_byte = {name: result.least(name).cpu / int(facts[f"bytes of {name}"]) for name in result.rounds}
    complete = int(facts["bytes of 100"]) >= 0.99 * _GIGA
    # Rounds of an older release have no copies.
    bounds = {"100,000": CONNECTIONS, "1": ONE_CONNECTION, "copies": COPIES}
    for name, limit in ((name, limit) for name, limit in bounds.items() if name in result.rounds):
        ratio = per_byte[name] / per_byte["100"]
        wall = result.least(name).wall / few.wall * int(facts["bytes of 100"]) / int(facts[f"bytes of {name}"])
        yield Verdict(
            promise=f"{facts[f'capture of {name}']}: cost of a byte over that with 100 connections",
            figure=f"{wall:.2f} wall, {ratio:.2f} CPU",
            limit=f"at most {limit}",
            met=wall <= limit,
            complete=complete,
        )
    for name in result.rounds:
        made, seen = int(facts[f"messages that were made of {name}"]), int(facts[f"messages of {name}"])
        what = str(facts[f"capture of {name}"])
        yield Verdict(
            promise=f"{what}: every message that was made",
            figure=f"{seen:,}",
            limit=f"{made:,}",
            met=made == seen,
            complete=complete,
        )
        yield _memory(what, result.cost(name).together, complete=complete)


def _linear(result: Result) -> Iterator[Verdict]:
    names = [name for name in result.rounds if name != START]
    # Rounds of an older release have no start of their own.
    start = result.least(START).cpu if START in result.rounds else 0.0
    per_byte = [(result.least(name).cpu - start) / int(result.facts[f"bytes of {name}"]) for name in names]
    complete = names[-1] == "16 GB"
    if len(names) > 1:
        worst = max(per_byte) / min(per_byte)
        yield Verdict(
            promise=f"bulk, {names[0]} to {names[-1]}: dearest byte over cheapest, in CPU beyond the start",
            figure=f"{worst:.2f}",
            limit=f"at most {LINEAR}",
            met=worst <= LINEAR,
            complete=complete,
        )
    yield _memory(f"bulk, {names[-1]}", result.cost(names[-1]).together, complete=complete)


def _small(result: Result) -> Iterator[Verdict]:
    for name in result.rounds:
        if name.startswith("netdiag exchanges"):
            cpu = result.cost(name).cpu
            yield Verdict(
                promise=f"`{name}` of a small capture: CPU",
                figure=f"{cpu:.2f} s",
                limit=f"at most {SMALL_CPU} s",
                met=cpu <= SMALL_CPU,
            )


def _spark(result: Result) -> Iterator[Verdict]:
    size = int(result.facts["bytes"]) / _GIGA
    empty = result.cost("empty job").wall
    for name in ("partial sums", "netdiag analyze"):
        # Rounds of an older release have no sums.
        if name in result.rounds:
            ours = result.cost(name).wall
            yield Verdict(
                promise=f"{result.facts['capture']}: {name} in local[2] above a job of Spark that reads nothing",
                figure=f"{(ours - empty) / size:.2f} s/GB ({ours:.1f} s, empty {empty:.1f} s)",
                limit=f"at most {SPARK_PER_GIGABYTE} s/GB",
                met=(ours - empty) / size <= SPARK_PER_GIGABYTE,
                complete=size >= 2.99,
            )


_JUDGES: Mapping[str, Callable[[Result], Iterator[Verdict]]] = {
    "rate": _rate,
    "first": _first,
    "cold": _cold,
    "cores-chatty": _cores,
    "connections": _connections,
    "linear": _linear,
    "small": _small,
    "spark": _spark,
}
