"""Bar: the language server while somebody types into an 8 kB file: how long diagnostics take, and what they say."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from lsprotocol import types

from netdiag.render.findings.finding_text import COULD_NOT_CHECK, plain
from tests.bars.measuring import report
from tests.bars.speed import stack
from tests.lsp.edits import edits
from tests.lsp.sessions import Session, session

EDITS = 1_000
MEDIAN_LIMIT = 0.150
START_LIMIT = 1.0
# What caches of the interpreter may still take after the first tenth of the edits.
GROWTH_LIMIT_MIB = 8
_BATCH = 100

# Line, column, end line and end column from 0, rule, message. An error has a line only.
Told = list[tuple[int, int, int, int, str, str]]


def main() -> int:
    """0 when diagnostics come in time, equal those of the command, and memory stays."""
    text = stack()
    texts = edits(8, text, EDITS)
    report("size of the file", len(text.encode()), "bytes")
    with TemporaryDirectory() as folder:
        home = Path(folder) / "app"
        home.mkdir()
        (home / "compose.yml").write_text(text)
        found, took, memory, start = session(home, lambda one: _typed(one, text, texts), encodings=["utf-32"])
        expected = _by_command(Path(folder), texts)
    differing = [number for number, (mine, its) in enumerate(zip(found, expected, strict=True)) if mine != its]
    for number in differing[:3]:
        report(f"edit {number}", str(set(found[number]) ^ set(expected[number])))
    growth = memory[-1] - memory[0]
    report("start of the server to its first diagnostics", round(start, 2), "s")
    report("from a keystroke to diagnostics, median", round(statistics.median(took) * 1000, 1), "ms")
    report("the slowest of 100", round(statistics.quantiles(took, n=100)[-1] * 1000, 1), "ms")
    report(f"of {EDITS} edits, diagnostics that differ from the command's", len(differing))
    report("edits with findings", sum(map(bool, found)))
    report("memory after a tenth of the edits", round(memory[0], 1), "MiB")
    report("memory at the end", round(memory[-1], 1), "MiB")
    fine = statistics.median(took) <= MEDIAN_LIMIT and start <= START_LIMIT and growth <= GROWTH_LIMIT_MIB
    return 0 if fine and not differing else 1


async def _typed(one: Session, text: str, texts: Sequence[str]) -> tuple[list[Told], list[float], list[float], float]:
    """What the server told after each edit, the seconds that took, its memory in MiB, the seconds of its start."""
    await one.open(text)
    start = time.monotonic() - one.began
    found: list[Told] = []
    took, memory = [], []
    for number, changed in enumerate(texts, 1):
        began = time.perf_counter()
        told = await one.change(changed)
        took.append(time.perf_counter() - began)
        found.append(sorted(_place(diagnostic) for diagnostic in told))
        if number % (EDITS // 10) == 0:
            memory.append(_resident_mib(one.pid))
    return found, took, memory, start


def _place(one: types.Diagnostic) -> tuple[int, int, int, int, str, str]:
    at = one.range
    message = one.message.splitlines()[0]
    if one.code == COULD_NOT_CHECK:
        return (at.start.line, 0, 0, 0, COULD_NOT_CHECK, message)
    return (at.start.line, at.start.character, at.end.line, at.end.character, str(one.code), message)


def _resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def _by_command(folder: Path, texts: Sequence[str]) -> list[Told]:
    """What `netdiag check-listeners` tells of the same texts, each in a folder of its own with the same name."""
    files = []
    for number, text in enumerate(texts):
        home = folder / str(number) / "app"
        home.mkdir(parents=True)
        (home / "compose.yml").write_bytes(text.encode())
        files.append(home / "compose.yml")
    found: dict[str, Told] = {str(file): [] for file in files}
    for at in range(0, len(files), _BATCH):
        command = [sys.executable, "-m", "netdiag", "check-listeners", "--format", "json", "--no-matrix"]
        done = subprocess.run([*command, *files[at : at + _BATCH]], capture_output=True, check=False)
        told = json.loads(done.stdout)
        unread = {item["path"]: item["error"] for item in told["inputs"] if item["error"]}
        for path, error in unread.items():
            line = int(error["where"].removeprefix(path).split(":")[1]) - 1
            text = f"{error['message']}; {error['hint']}" if error["hint"] else error["message"]
            found[path].append((line, 0, 0, 0, COULD_NOT_CHECK, plain(text)))
        for finding in told["findings"]:
            place = finding["location"]
            # An input that cannot be read has its error once more as a finding.
            if place["path"] not in unread:
                span = (place["line"] - 1, place["column"] - 1, place["end_line"] - 1, place["end_column"] - 1)
                found[place["path"]].append((*span, finding["rule"], plain(finding["message"])))
    return [sorted(told) for told in found.values()]


if __name__ == "__main__":
    sys.exit(main())
