"""`python -m tests.bars [NAME...]`: measures what has no record at this commit, then writes docs/bars.md.

Stopped and started again it goes on where it was, within a bar of tests too; `--again` measures anew, `--list` only
tells. Exit 0: all met.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.bars import record, resumed
from tests.bars.page import render
from tests.bars.record import Record
from tests.bars.targets import TARGETS, Target
from tests.house.tree import ROOT

NO_TESTS = 5  # pytest's exit status when nothing was selected


def measure(target: Target, commit: str) -> Record:
    """Run one target to its end; what passed in a run that was broken off at this commit is not run again."""
    began = time.monotonic()
    kept = record.RECORDS / commit / f"{target.name}.passed.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    if commit.endswith("+"):
        # nobody knows what differed then
        kept.unlink(missing_ok=True)
    before = list(resumed.passed(kept))
    with TemporaryDirectory() as folder:
        notes = Path(folder) / "figures.jsonl"
        env = {**os.environ, "NETDIAG_FIGURES": str(notes), resumed.VARIABLE: str(kept)}
        status = subprocess.run(target.command, cwd=ROOT, env=env, check=False).returncode
        figures = (*_written(figure for line in before for figure in line["figures"]), *_figures(notes))
    uses_pytest = "pytest" in target.command
    if before and uses_pytest and status == NO_TESTS:
        status = 0
    # A run to its end counts as a whole: a test that failed is not tried again alone.
    if status in (0, 1):
        kept.unlink(missing_ok=True)
    return Record(
        name=target.name,
        commit=commit,
        date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        verdict="met" if status == 0 else "no test yet" if uses_pytest and status == NO_TESTS else "FAILED",
        seconds=time.monotonic() - began + sum(line["seconds"] for line in before),
        figures=figures,
    )


def _figures(notes: Path) -> tuple[str, ...]:
    if not notes.exists():
        return ()
    return _written(json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines())


def _written(values: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(f"{v['name']}: {_number(v['value'])} {v['unit']}".rstrip() for v in values)


def _number(value: float | int | str) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main(arguments: Sequence[str]) -> int:
    """0 when every chosen bar is met at this commit."""
    names = [target.name for target in TARGETS]
    parser = argparse.ArgumentParser(prog="python -m tests.bars")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; all of them when none is given"
    )
    parser.add_argument("--again", action="store_true", help="also what has a record at this commit")
    parser.add_argument("--list", action="store_true", help="say what would be measured")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(names):
        parser.error(f"no bar is called {', '.join(sorted(unknown))}")
    commit = record.present_commit()
    have = {one.name: one for one in record.records() if one.commit == commit and one.verdict == "met"}
    chosen = [target for target in TARGETS if not options.names or target.name in options.names]
    if options.list:
        print("\n".join(f"{target.name:<16}{'met' if target.name in have else 'to measure'}" for target in chosen))
        return 0
    verdicts = []
    for target in chosen:
        if target.name in have and not options.again:
            print(f"{target.name}: met at {commit} before")
            continue
        print(f"\n== bar {target.name}: {target.promise}", flush=True)
        measured = measure(target, commit)
        record.save(measured)
        verdicts.append(measured.verdict)
        print(f"{target.name}: {measured.verdict}, {measured.seconds:.0f} s", flush=True)
        present = record.PAGE.read_text(encoding="utf-8") if record.PAGE.exists() else ""
        record.PAGE.write_text(render(TARGETS, record.newest(), present), encoding="utf-8")
    return 0 if all(verdict == "met" for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
