"""What netdiag says of the listed files: each in a process of its own, with bounded time and memory.

The results have names of rules and numbers of lines, and no text of the files.
"""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, fields
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tools.survey.listing import File, read_rows, write_rows
from tools.survey.snapshots import Snapshot, write_tree

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
MEMORY_KB = 2 * 1024 * 1024
CHECKED, UNREADABLE, NO_BROKER, GONE = "checked", "unreadable", "no broker", "not found"
HOST, CONTAINERS, LAN = "host", "containers", "lan"
WORKS, SECURED, PARTLY, MISLED = "works", "secured", "partly", "misled"
NO_WAY, UNKNOWN, ABSENT = "no way in", "unknown", ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What netdiag reported."""

    repository: str
    path: str
    line: int
    rule: str
    severity: str
    service: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one file: of the Kafka that it starts, what clients get from three places.

    `fix` and `unsafe` say whether errors and warnings are gone after these repairs, and whether the matrix is green.
    """

    repository: str
    path: str
    kind: str
    status: str
    reason: str
    brokers: int
    host: str
    containers: str
    lan: str
    errors: int
    warnings: int
    fix: str
    unsafe: str


def check_all(
    files: Sequence[File],
    find: Callable[[str, str], Snapshot | None],
    *,
    jobs: int = 2,
    tell: Callable[[str], None] = print,
) -> tuple[list[Outcome], list[Finding]]:
    """Check every file, with its repository around it; the order of results is that of the list."""
    by_repository = [list(group) for _, group in groupby(files, key=lambda file: (file.repository, file.commit))]
    outcomes: list[Outcome] = []
    findings: list[Finding] = []
    with ThreadPoolExecutor(jobs) as workers:
        for found in workers.map(lambda group: _check_repository(group, find, tell), by_repository):
            for outcome, its in found:
                outcomes.append(outcome)
                findings += its
    return outcomes, findings


def _check_repository(
    files: Sequence[File], find: Callable[[str, str], Snapshot | None], tell: Callable[[str], None]
) -> list[tuple[Outcome, list[Finding]]]:
    one = find(files[0].repository, files[0].commit)
    with TemporaryDirectory(prefix="netdiag-survey-") as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        if one is not None:
            write_tree(one, files[0].commit, tree, [file.path for file in files])
        return [_check(file, tree, tell) for file in files]


def _check(file: File, tree: Path, tell: Callable[[str], None]) -> tuple[Outcome, list[Finding]]:
    path = tree / file.path
    if not path.is_file() or sha256(path.read_bytes()).hexdigest() != file.sha256:
        tell(f"{file.repository} {file.path}: not there, or other bytes than listed")
        return _outcome(file, GONE), []
    told = _netdiag(tree, file.path)
    if isinstance(told, str):
        tell(f"{file.repository} {file.path}: {told}")
        return _outcome(file, UNREADABLE, reason=told), []
    errors = [item for item in told["inputs"] if item["error"]]
    findings = _findings(file, told)
    if errors:
        return _outcome(file, UNREADABLE, reason=_why_unread(told, findings)), []
    brokers = sum(len(item["brokers"]) for item in told["inputs"])
    if not brokers:
        return _outcome(file, NO_BROKER), []
    bad = [one for one in findings if one.severity in ("error", "warning")]
    repaired = [_repaired(file, tree, extra, tell) if bad else ABSENT for extra in ([], ["--unsafe-fixes"])]
    outcome = _outcome(
        file,
        CHECKED,
        brokers=brokers,
        places=places(told["matrix"]),
        errors=sum(one.severity == "error" for one in findings),
        warnings=sum(one.severity == "warning" for one in findings),
        fix=repaired[0],
        unsafe=repaired[1],
    )
    return outcome, findings


def places(cells: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What clients get from each of the three places, through the best of its addresses."""
    verdicts: dict[str, list[str]] = defaultdict(list)
    for cell in cells:
        if place := _place(cell["vantage"]):
            verdicts[place].append((cell["predicted"] or {"verdict": "unknown"})["verdict"])
    return {place: _best(found) for place, found in verdicts.items()}


def is_green(found: Mapping[str, str]) -> bool:
    """Whether clients that find a broker can use it, on the host and in containers, and some do find one."""
    inside = [found.get(HOST, ABSENT), found.get(CONTAINERS, ABSENT)]
    return bool({WORKS, SECURED} & set(inside)) and all(one in (WORKS, SECURED, NO_WAY, ABSENT) for one in inside)


def _place(vantage: str) -> str | None:
    if vantage == "docker host":
        return HOST
    if vantage == "LAN machine":
        return LAN
    return CONTAINERS if vantage.startswith("container on ") else None


def _best(verdicts: Sequence[str]) -> str:
    if "ok" in verdicts:
        return WORKS
    if {"tls", "sasl"} & set(verdicts):
        return SECURED
    if "partial" in verdicts:
        return PARTLY
    if "unknown" in verdicts:
        return UNKNOWN
    return NO_WAY if set(verdicts) == {"bootstrap"} else MISLED


def _repaired(file: File, tree: Path, extra: Sequence[str], tell: Callable[[str], None]) -> str:
    """`green`, `clean` if nothing is reported any more but the matrix is not green, or `broken`."""
    with TemporaryDirectory(prefix="netdiag-survey-") as folder:
        copy = Path(folder) / "tree"
        subprocess.run(["cp", "-a", tree, copy], check=True)
        told = _netdiag(copy, file.path, "--fix", *extra)
    if isinstance(told, str):
        tell(f"{file.repository} {file.path}: --fix: {told}")
        return "broken"
    if any(item["error"] for item in told["inputs"]):
        tell(f"{file.repository} {file.path}: --fix left a file that cannot be read")
        return "broken"
    if any(one.severity in ("error", "warning") for one in _findings(file, told)):
        return "broken"
    return "green" if is_green(places(told["matrix"])) else "clean"


def _netdiag(tree: Path, path: str, *extra: str) -> dict[str, Any] | str:
    """The report as JSON, or in a word why there is none."""
    command = [sys.executable, "-m", "netdiag", "check-listeners", "--isolated", "--no-ignores", "--allow-empty"]
    bounded = ["sh", "-c", f'ulimit -v {MEMORY_KB}; exec "$@"', "sh", *command, *extra, "--format", "json", "--", path]
    # A clean environment: what the reader has set is in no file of the survey.
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tree), "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(bounded, cwd=tree, env=env, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"longer than {SECONDS} s"
    if b"Traceback" in done.stderr or b"internal error" in done.stderr:
        return "crash"
    try:
        told: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return f"exit status {done.returncode}"
    return told


def _findings(file: File, told: Mapping[str, Any]) -> list[Finding]:
    return [
        Finding(
            repository=file.repository,
            path=one["location"]["path"] or "",
            line=one["location"]["line"] or 0,
            rule=one["rule"],
            severity=one["severity"],
            service=one["service"] or "",
        )
        for one in told["findings"]
    ]


def _why_unread(told: Mapping[str, Any], findings: Sequence[Finding]) -> str:
    rules = sorted({one.rule for one in findings if one.severity == "error"})
    return " ".join(rules) or "no rule"


def _outcome(
    file: File,
    status: str,
    *,
    reason: str = "",
    brokers: int = 0,
    places: Mapping[str, str] | None = None,
    errors: int = 0,
    warnings: int = 0,
    fix: str = "",
    unsafe: str = "",
) -> Outcome:
    found = places or {}
    return Outcome(
        repository=file.repository,
        path=file.path,
        kind=file.kind,
        status=status,
        reason=reason,
        brokers=brokers,
        host=found.get(HOST, ABSENT),
        containers=found.get(CONTAINERS, ABSENT),
        lan=found.get(LAN, ABSENT),
        errors=errors,
        warnings=warnings,
        fix=fix,
        unsafe=unsafe,
    )


def write_outcomes(path: Path, outcomes: Iterable[Outcome]) -> None:
    """Keep them."""
    write_rows(path, [field.name for field in fields(Outcome)], (astuple(one) for one in outcomes))


def write_findings(path: Path, findings: Iterable[Finding]) -> None:
    """Keep them."""
    write_rows(path, [field.name for field in fields(Finding)], (astuple(one) for one in findings))


def read_outcomes(path: Path) -> list[Outcome]:
    """As they are kept."""
    return [Outcome(**_numbers(row, "brokers", "errors", "warnings")) for row in read_rows(path)]


def read_findings(path: Path) -> list[Finding]:
    """As they are kept."""
    return [Finding(**_numbers(row, "line")) for row in read_rows(path)]


def _numbers(row: Mapping[str, str], *names: str) -> dict[str, Any]:
    return {name: int(value) if name in names else value for name, value in row.items()}
