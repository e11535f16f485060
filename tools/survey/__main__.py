"""`python -m tools.survey COMMAND`: list files, check them, draw findings to judge, write the page."""

import argparse
import csv
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.survey import checking, judging, listing
from tools.survey.page import write_page
from tools.survey.snapshots import Snapshot, download, snapshot

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "survey"


def main(arguments: Sequence[str]) -> int:
    """0 when it is done, 1 when a file is not there."""
    parser = argparse.ArgumentParser(prog="python -m tools.survey", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    new = commands.add_parser("list", help="make the list from a folder of snapshots")
    new.add_argument("snapshots", type=Path)
    new.add_argument("--known", type=Path, help="CSV with repo and path of files to leave out")
    check = commands.add_parser("check", help="check the listed files, and write what netdiag says")
    check.add_argument(
        "--snapshots", type=Path, default=ROOT / ".cache" / "survey", help="git directories of repositories"
    )
    check.add_argument("--offline", action="store_true", help="download nothing")
    check.add_argument("--into", type=Path, default=FOLDER, help="where the results go")
    check.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    commands.add_parser("draw", help="draw findings to judge, and forget earlier judgements")
    commands.add_parser("page", help="write the page and its charts from the data")
    options = parser.parse_args(arguments)
    if options.command == "list":
        return _list(options.snapshots, options.known)
    if options.command == "draw":
        return _draw()
    if options.command == "page":
        write_page(FOLDER)
        return 0
    return _check(options.snapshots, options.into, jobs=options.jobs, offline=options.offline)


def _list(folder: Path, known: Path | None) -> int:
    left_out: list[tuple[str, str]] = []
    if known:
        with known.open(encoding="utf-8", newline="") as lines:
            left_out = [(row["repo"], row["path"]) for row in csv.DictReader(lines)]
    files, counts = listing.choose(folder, left_out)
    FOLDER.mkdir(parents=True, exist_ok=True)
    listing.write_list(FOLDER / "files.csv", files)
    listing.write_sampling(FOLDER / "sampling.json", counts)
    print(counts)
    return 0


def _check(folder: Path, into: Path, *, jobs: int, offline: bool) -> int:
    files = listing.read_list(FOLDER / "files.csv")

    def find(repository: str, commit: str) -> Snapshot | None:
        have = snapshot(folder, repository)
        if have and have.has(commit):
            return have
        return None if offline else download(folder, repository, commit)

    outcomes, findings = checking.check_all(files, find, jobs=jobs, tell=lambda text: print(text, file=sys.stderr))
    into.mkdir(parents=True, exist_ok=True)
    checking.write_outcomes(into / "outcomes.csv", outcomes)
    checking.write_findings(into / "findings.csv", findings)
    missing = sum(one.status == checking.GONE for one in outcomes)
    print(f"{len(outcomes)} files, {len(findings)} findings, {missing} not found")
    return 1 if missing else 0


def _draw() -> int:
    path = FOLDER / "judgements.csv"
    findings = checking.read_findings(FOLDER / "findings.csv")
    drawn = [one for severity in judging.JUDGED for one in judging.draw(findings, severity)]
    judging.write_judgements(path, drawn)
    print(f"{len(drawn)} findings to judge in {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
