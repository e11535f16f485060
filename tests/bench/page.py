"""docs/benchmarks.md, made of what was measured; a case that was not measured here is not on it."""

from collections.abc import Iterator, Mapping, Sequence

from tests.bench.results import Result
from tests.bench.running import Cost
from tests.bench.verdicts import Verdict, verdicts
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
_HEAD = """\
# Benchmarks

`make bench` writes this page. It makes its own captures, and measures one command after the other on one machine.
Wall time varies if something else runs at the same time (see the load); CPU time varies less. Of several rounds, the
page has the median time and the maximum memory. Beside tshark, which takes minutes, netdiag runs five times in each
round, and the median counts. Where a target compares netdiag with itself on another capture, the fastest round of
each counts. Memory is the sum over all processes of a command.
"""
_TITLES = {
    "rate-bulk": "Bulk: large batches",
    "rate-chatty": "Chatty: every record at once",
    "first": "The first run",
    "cold": "From the disk",
    "cores-chatty": "One core and two",
    "connections": "Many connections, one, a very large message, and copies",
    "linear": "Rising sizes",
    "small": "A small capture",
    "spark": "PySpark in local[2], from its start to its end",
}
_COLUMNS = "| | wall, s | CPU, s | MB/s | memory, MiB |"


def render(found: Mapping[str, Result]) -> str:
    """The page."""
    parts = [_HEAD]
    if found:
        newest = max(found.values(), key=lambda result: result.date)
        parts.append("## Machine\n\n" + "\n".join(f"- {line}" for line in newest.machine) + "\n")
    parts.append("## Targets\n\n" + "\n".join(_promised(verdicts(found))) + "\n")
    for kind, title in _TITLES.items():
        for name in sorted(name for name in found if name == kind or name.startswith(f"{kind}-")):
            parts.append(f"## {title}\n\n" + "\n".join(_case(found[name])) + "\n")
    return "\n".join(parts)


def _promised(all_of_them: Sequence[Verdict]) -> Iterator[str]:
    yield "| bar | figure | limit | |"
    yield "|---|---|---|---|"
    for verdict in all_of_them:
        yield f"| {verdict.promise} | {verdict.figure} | {verdict.limit} | {verdict.word} |"


def _case(result: Result) -> Iterator[str]:
    yield f"{_told(result)}."
    yield ""
    yield _COLUMNS
    yield "|---|---:|---:|---:|---:|"
    for name in result.rounds:
        yield _row(name, result.cost(name), _bytes(result, name))
    counted = [f"{name}: {value:,}" for name, value in result.facts.items() if name.startswith("messages")]
    if counted:
        yield ""
        yield f"Counted: {'; '.join(counted)}."


def _told(result: Result) -> str:
    words = [f"{result.finished} round{'s' if result.finished > 1 else ''}", result.date, f"commit {result.commit}"]
    words.append(f"load up to {result.load:g}")
    facts = result.facts
    if "capture" in facts:
        packets = f", {facts['packets']:,} packets" if int(facts["packets"]) >= 0 else ""
        words.insert(0, f"{facts['capture']} ({facts['bytes']:,} bytes{packets})")
    if "packets that the recorder missed" in facts:
        words.append(f"{facts['packets that the recorder missed']:,} packets missed while its seed was recorded")
    if "tshark" in facts:
        words.append(f"tshark {facts['tshark']}")
    if any(name.startswith("made instead") for name in facts):
        words.append("made by our own generator: real clients cannot be recorded here")
    return ", ".join(words)


def _row(name: str, cost: Cost, size: int) -> str:
    speed = f"{size / 1e6 / cost.wall:,.0f}" if size > 10**7 else ""
    return f"| {name} | {cost.wall:,.2f} | {cost.cpu:,.2f} | {speed} | {cost.together:,.0f} |"


def _bytes(result: Result, name: str) -> int:
    """How much a contestant read."""
    if name == "empty job":
        return 0
    return int(result.facts.get(f"bytes of {name}", result.facts.get("bytes", 0)))
