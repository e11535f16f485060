"""`python -m tests.bench [CASE...]`: measures, then writes docs/benchmarks.md. Goes on where it was stopped.

With --bar it judges instead of writing the page: exit 0 when everything that the cases promise is kept.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from tests.bars.measuring import report
from tests.bench import results
from tests.bench.captures import NoRoom
from tests.bench.cases import Failed, Sizes, every, warmed
from tests.bench.page import PAGE, render
from tests.bench.results import Result
from tests.bench.verdicts import Verdict, of

_DEFAULT = Sizes()


def main(arguments: Sequence[str]) -> int:
    """0 when all cases were measured, and with --bar met."""
    known = [name for name, _ in every(_DEFAULT)]
    options = _parser(known).parse_args(arguments)
    if unknown := set(options.cases) - set(known):
        raise SystemExit(f"no case is called {', '.join(sorted(unknown))}")
    sizes = Sizes(
        megabytes=options.megabytes,
        compared=options.compared,
        gigabytes=tuple(options.gigabytes),
        rounds=options.rounds,
    )
    warmed()
    done = True
    for name, measure in every(sizes):
        if not options.cases or name in options.cases:
            done &= _one(name, measure, options.bar)
    if not options.bar:
        PAGE.write_text(render(results.newest()), encoding="utf-8")
        print(f"written: {PAGE.name}")
    return 0 if done else 1


def _one(name: str, measure: Callable[[], Result], words: str | None) -> bool:
    try:
        result = measure()
    except (Failed, NoRoom) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return False
    print(f"{name}: " + ", ".join(f"{n} {result.cost(n).wall:.2f} s" for n in result.rounds))
    chosen = [verdict for verdict in of(result.case, result) if words is None or words in verdict.promise]
    for verdict in chosen:
        _tell(verdict)
    if words is None:
        return True
    report("load of the machine", result.load)
    return all(verdict.met for verdict in chosen) and bool(chosen)


def _tell(verdict: Verdict) -> None:
    report(f"{verdict.promise} ({verdict.limit})", f"{verdict.figure}: {verdict.word}")


def _parser(known: Sequence[str]) -> argparse.ArgumentParser:
    def default(name: str, value: int) -> int:
        return int(os.environ.get(f"NETDIAG_BENCH_{name}", value))

    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(known)}; all when none is given")
    parser.add_argument("--megabytes", type=int, default=default("MEGABYTES", _DEFAULT.megabytes), help="for rates")
    parser.add_argument(
        "--compared", type=int, default=default("COMPARED", _DEFAULT.compared), help="megabytes where shapes differ"
    )
    sizes = [int(word) for word in os.environ.get("NETDIAG_BENCH_GIGABYTES", "1 4").split()]
    parser.add_argument("--gigabytes", type=int, nargs="*", default=sizes, help="sizes to compare, rising")
    parser.add_argument("--rounds", type=int, default=default("ROUNDS", _DEFAULT.rounds))
    parser.add_argument("--bar", metavar="WORDS", help="judge what promises say these words of; empty for all")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
