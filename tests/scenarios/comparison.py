"""Cell by cell: what was expected of a stack beside what each source says, and the table of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.scenarios.expectations import Engine, Stack

# (vantage, bootstrap) -> the word of the cell
Source = Callable[[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One cell, by every source."""

    vantage: str
    bootstrap: str
    expected: str
    said: Mapping[str, str]

    @property
    def agrees(self) -> bool:
        """Whether every source says what was expected."""
        return all(word == self.expected for word in self.said.values())

    def __str__(self) -> str:
        others = ", ".join(f"{source} {word!r}" for source, word in self.said.items() if word != self.expected)
        return f"{self.vantage} {self.bootstrap}: expected {self.expected!r}, {others or 'all agree'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All cells of one stack."""

    stack: str
    sources: tuple[str, ...]
    rows: tuple[Row, ...]

    def disagreements(self) -> tuple[Row, ...]:
        """The rows where a source says something else than expected."""
        return tuple(row for row in self.rows if not row.agrees)


def compare(stack: Stack, sources: Mapping[str, Source], *, engine: Engine, at_once: int = 4) -> Comparison:
    """Ask every source for every cell of `stack`; up to `at_once` cells side by side."""

    def row(vantage: str, bootstrap: str, expected: str) -> Row:
        said = {name: source(vantage, bootstrap) for name, source in sources.items()}
        return Row(vantage=vantage, bootstrap=bootstrap, expected=expected, said=said)

    with ThreadPoolExecutor(at_once) as pool:
        waiting = [pool.submit(row, cell.vantage, cell.bootstrap, cell.on(engine)) for cell in stack.cells]
        rows = tuple(one.result() for one in waiting)
    return Comparison(stack=stack.name, sources=tuple(sources), rows=rows)


def markdown(comparisons: Iterable[Comparison]) -> str:
    """A table per stack, and the sums on top."""
    done = list(comparisons)
    rows = sum(len(one.rows) for one in done)
    answers = sum(len(row.said) for one in done for row in one.rows)
    bad = sum(len(one.disagreements()) for one in done)
    lines = [f"{rows} cells in {len(done)} stacks, {answers} answers, {bad} cells with a disagreement", ""]
    for one in done:
        lines += [
            f"## {one.stack}",
            "",
            f"| vantage | bootstrap | expected | {' | '.join(one.sources)} | |",
            f"|{'---|' * (len(one.sources) + 4)}",
            *(_line(row, one.sources) for row in one.rows),
            "",
        ]
    return "\n".join(lines)


def _line(row: Row, sources: tuple[str, ...]) -> str:
    words = [row.vantage, f"`{row.bootstrap}`", row.expected, *(row.said[name] for name in sources)]
    return f"| {' | '.join(words)} | {'' if row.agrees else '**differs**'} |"
