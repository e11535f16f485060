"""Cell by cell: what was expected of a stack beside what each source says, and the table of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.scenarios.expectations import Engine, ExpectedCell, Stack

# (vantage, bootstrap) -> the word of the cell
Source = Callable[[str, str], str]
NO_REASON = ("bootstrap", "advertised")
FOREIGN = ("not-kafka", "tls", "sasl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One cell, by every source."""

    vantage: str
    bootstrap: str
    expected: str
    said: Mapping[str, str]
    excused: frozenset[str] = frozenset()

    @property
    def agrees(self) -> bool:
        """Whether every source says what was expected, or what it is known to say instead."""
        return all(fits(word, self.expected) or source in self.excused for source, word in self.said.items())

    @property
    def exact(self) -> int:
        """How many sources say the whole word, reason included."""
        return sum(word == self.expected for word in self.said.values())

    def __str__(self) -> str:
        others = ", ".join(f"{source} {word!r}" for source, word in self.said.items() if not fits(word, self.expected))
        return f"{self.vantage} {self.bootstrap}: expected {self.expected!r}, {others or 'all agree'}"


def fits(word: str, expected: str) -> bool:
    """Whether a source agrees; a client that names no reason says `bootstrap` or `advertised` alone.

    No client can tell at the first hop that what answers is not for clients: it says `bootstrap`, whatever the reason.
    """
    if expected in FOREIGN:
        return word.partition(":")[0] in (expected, "bootstrap")
    return word == expected or (word in NO_REASON and expected.startswith(f"{word}: "))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All cells of one stack."""

    stack: str
    sources: tuple[str, ...]
    rows: tuple[Row, ...]
    asked_again: int

    def disagreements(self) -> tuple[Row, ...]:
        """The rows where a source says something else than expected."""
        return tuple(row for row in self.rows if not row.agrees)


def compare(
    stack: Stack,
    sources: Mapping[str, Source],
    *,
    engine: Engine,
    asks: Callable[[str, ExpectedCell], bool] = lambda source, cell: True,
    at_once: int = 8,
) -> Comparison:
    """Ask the sources for the cells of `stack`, up to `at_once` questions side by side.

    Every source is asked for every cell, unless `asks(source, cell)` says no. An answer that does not fit is asked
    for once more, alone, and the second one counts: on a busy machine a client's own time limits pass first.
    """
    questions = [(cell, source) for cell in stack.cells for source in sources if asks(source, cell)]

    def answer(question: tuple[ExpectedCell, str]) -> str:
        cell, source = question
        return sources[source](cell.vantage, cell.bootstrap)

    with ThreadPoolExecutor(at_once) as pool:
        words = dict(zip(questions, pool.map(answer, questions), strict=True))
    again = [
        (cell, source)
        for cell, source in questions
        if not fits(words[cell, source], cell.on(engine)) and words[cell, source] != cell.differs(source, engine)
    ]
    words |= {question: answer(question) for question in again}
    rows = tuple(
        Row(
            vantage=cell.vantage,
            bootstrap=cell.bootstrap,
            expected=cell.on(engine),
            said={source: words[cell, source] for source in sources if (cell, source) in words},
            excused=frozenset(
                source for source in sources if words.get((cell, source)) == cell.differs(source, engine) is not None
            ),
        )
        for cell in stack.cells
    )
    return Comparison(stack=stack.name, sources=tuple(sources), rows=rows, asked_again=len(again))


def markdown(comparisons: Iterable[Comparison]) -> str:
    """A table per stack, and the sums on top."""
    done = list(comparisons)
    rows = sum(len(one.rows) for one in done)
    answers = sum(len(row.said) for one in done for row in one.rows)
    exact = sum(row.exact for one in done for row in one.rows)
    again = sum(one.asked_again for one in done)
    bad = sum(len(one.disagreements()) for one in done)
    lines = [
        f"{rows} cells in {len(done)} stacks, {answers} answers ({exact} with the reason, where there is one), "
        f"{again} asked again, {bad} cells with a disagreement",
        "",
    ]
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
    words = [row.vantage, f"`{row.bootstrap}`", row.expected, *(row.said.get(name, "") for name in sources)]
    return f"| {' | '.join(words)} | {'' if row.agrees else '**differs**'} |"
