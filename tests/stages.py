"""`make test`: every stage, how long each took, and at the end what could not run.

`python -m tests.stages [--only STAGE]`. Stages run in rounds, a round in lanes side by side: while a lab waits for its
brokers, other tests and the compiler compute. What needs green waits for all rounds before it.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO

from tests.second_try import run_pytest

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache"
NOT_RUN = CACHE / "not-run.txt"
FIGURES = CACHE / "figures.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Commands that belong together; `needs_green` waits for all rounds before, `advisory` cannot fail the run.

    `is_testing` is False for downloads, builds and fuzzing: what a second run needs less of, or as long as one likes.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    needs_green: bool = False
    advisory: bool = False
    is_testing: bool = True


Lane = tuple[Stage, ...]

# What a lab of five brokers and its clients may take, and what all that runs beside the labs needs: Spark, rustc.
LAB_MEMORY, OTHER_MEMORY = 3.0, 6.0


def labs(gigabytes: float, processors: int) -> int:
    """How many labs at a time: up to three where there is room for them, 0 for one in the process of pytest itself."""
    room = min(3, int((gigabytes - OTHER_MEMORY) // LAB_MEMORY))
    return room if processors >= 2 and room >= 2 else 0


def _memory() -> float:
    """What can be had of this machine's memory, in GB; 0 where nobody tells."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1e6 for line in lines if line.startswith("MemAvailable:")), 0.0)


LABS = labs(_memory(), os.cpu_count() or 1)
PROCESSES = min(4, os.cpu_count() or 1)
PYTEST = ("pytest", "-q", "--durations=40", "--durations-min=3")
# What only compiles leaves the processors to those whose time is told.
NICE = ("nice", "-n", "5")
LINT: Lane = (
    Stage(
        name="lint",
        commands=(
            ("ruff", "check", "."),
            ("ruff", "format", "--check", "."),
            ("mypy",),
            ("lint-imports", "--no-logo"),
        ),
    ),
    # Beside the engine, whose last step keeps one processor busy.
    Stage(name="build", commands=((*NICE, "python", "-m", "tests.rust", "--build"),), is_testing=False),
    Stage(
        name="fuzz",
        commands=((*NICE, "python", "-m", "tests.fuzz.native", "--fresh", "--minutes", "1"),),
        is_testing=False,
    ),
)
# One after another: each may ask apt-get for packages.
TOOLS: Lane = (
    Stage(name="tools", commands=(("python", "-m", "tests.tools"),), advisory=True, is_testing=False),
    Stage(
        name="prerequisites",
        commands=(("python", "-m", "tests.lab.prerequisites"),),
        advisory=True,
        is_testing=False,
    ),
    Stage(name="engine", commands=((".ci/native", ".venv", "install"),), advisory=True, is_testing=False),
)
FAST: Lane = (Stage(name="fast", commands=((*PYTEST, "-n", str(PROCESSES), "-m", "not lab and not alone"),)),)
# Engines side by side: a stack that starts computes, one that is asked mostly waits. A stack of five brokers and its
# clients takes about 30 s of CPU and 70 s by the clock.
LAB: Lane = (
    Stage(
        name="images",
        commands=(("python", "-m", "tests.lab.prepare", str(LABS)),),
        needs_green=True,
        advisory=True,
        is_testing=False,
    ),
    Stage(name="lab", commands=((*PYTEST, "-n", str(LABS), "-m", "lab and not alone"),), needs_green=True),
)
CRATES: Lane = (Stage(name="native", commands=((*NICE, "python", "-m", "tests.rust"),)),)
# What is held to seconds has the machine for itself.
ALONE: Lane = (
    Stage(
        name="alone",
        commands=((*PYTEST, "-m", "not lab and alone"), (*PYTEST, "-m", "lab and alone")),
        needs_green=True,
    ),
)
# What the first lane of a round prints is seen at once, that of the others stage by stage.
ROUNDS: tuple[tuple[Lane, ...], ...] = ((LINT, TOOLS), (FAST, LAB, CRATES), (ALONE,))
_PRINTING = Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How one stage ended; `failed` holds the commands that did, `unsteady` the tests that passed only alone.

    `counts` is what pytest counted, a line per run.
    """

    stage: Stage
    began: float
    ended: float
    failed: tuple[str, ...]
    unsteady: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """By the clock."""
        return self.ended - self.began

    @property
    def green(self) -> bool:
        """Whether nothing that counts failed."""
        return self.stage.advisory or not self.failed

    @property
    def word(self) -> str:
        """How the summary calls it."""
        if not self.failed:
            return "passed, with unsteady tests: see below" if self.unsteady else "passed"
        return "incomplete, see below" if self.stage.advisory else f"FAILED: {'; '.join(self.failed)}"


def run_rounds(rounds: Iterable[Sequence[Lane]]) -> tuple[list[Result], list[Stage]]:
    """The results of the stages that ran, and the stages that did not because one of a round before failed."""
    results: list[Result] = []
    held_back: list[Stage] = []
    for lanes in rounds:
        is_green = not held_back and all(result.green for result in results)
        held_back += [stage for lane in lanes for stage in lane if stage.needs_green and not is_green]
        due = [[stage for stage in lane if is_green or not stage.needs_green] for lane in lanes]
        with ThreadPoolExecutor(max(1, len(due))) as pool:
            ran = pool.map(_run_lane, due, [number == 0 for number in range(len(due))])
            results += [result for lane in ran for result in lane]
    return results, held_back


def _run_lane(lane: Sequence[Stage], is_seen: bool) -> list[Result]:
    results = []
    for stage in lane:
        if is_seen:
            results.append(_run(stage, sys.stdout))
            continue
        path = CACHE / f"{stage.name}.log"
        with path.open("w", encoding="utf-8") as log:
            results.append(_run(stage, log))
        with _PRINTING:
            print(path.read_text(encoding="utf-8", errors="replace"), flush=True)
    return results


def _run(stage: Stage, out: IO[str]) -> Result:
    began = time.monotonic()
    failed: list[str] = []
    unsteady: list[str] = []
    counts = CACHE / f"counts-{stage.name}.txt"
    counts.unlink(missing_ok=True)
    environment = {**_environment(), "NETDIAG_COUNTS": str(counts)}
    for number, command in enumerate(stage.commands):
        print(f"\n== {stage.name}: {' '.join(command)}", file=out, flush=True)
        if command[0] == "pytest":
            memory = CACHE / f"pytest-{stage.name}-{number}"
            tried = run_pytest(command, tree=ROOT, environment=environment, memory=memory, out=out)
            status = tried.status
            unsteady += tried.unsteady
        else:
            status = subprocess.run(
                command, cwd=ROOT, env=environment, check=False, stdout=out, stderr=subprocess.STDOUT
            ).returncode
        if status != 0:
            failed.append(" ".join(command))
    return Result(
        stage=stage,
        began=began,
        ended=time.monotonic(),
        failed=tuple(failed),
        unsteady=tuple(unsteady),
        counts=tuple(counts.read_text().splitlines()) if counts.exists() else (),
    )


def _environment() -> dict[str, str]:
    """The tools of this environment first in PATH; where the tests leave their notes for the summary."""
    # The tests start hundreds of interpreters: without bytecode each compiles netdiag anew.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **inherited,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "NETDIAG_NOT_RUN": str(NOT_RUN),
        "NETDIAG_FIGURES": str(FIGURES),
        # import-linter and mypy draw for a terminal or a log, never for a colour-blind pipe
        "NO_COLOR": "1",
    }


def _summary(results: Sequence[Result], held_back: Sequence[Stage]) -> str:
    lines = ["", "== summary"]
    for result in results:
        lines.append(f"{result.stage.name:<14}{result.seconds:>6.0f} s  {result.word}")
        lines += [f"{'':<24}{counts}" for counts in result.counts]
    lines += [f"{stage.name:<14}     -    not started: an earlier stage failed" for stage in held_back]
    testing = _covered(one for one in results if one.stage.is_testing)
    lines.append(f"testing: {testing:.0f} s")
    lines.append(f"downloads, builds, fuzzing, while nothing was tested: {_covered(results) - testing:.0f} s")
    unsteady = [test for result in results for test in result.unsteady]
    if unsteady:
        lines += ["unsteady, failed beside the others and passed alone:", *(f"  {test}" for test in unsteady)]
    not_run = list(dict.fromkeys(NOT_RUN.read_text().splitlines())) if NOT_RUN.exists() else []
    lines.append("could not run: " + ("nothing, all of it ran" if not not_run and not held_back else ""))
    lines += [f"  {line}" for line in not_run]
    lines += [f"  stage {stage.name}" for stage in held_back]
    return "\n".join(line.rstrip() for line in lines)


def _covered(results: Iterable[Result]) -> float:
    """Seconds by the clock in which at least one of them ran."""
    total, until = 0.0, 0.0
    for began, ended in sorted((one.began, one.ended) for one in results):
        total += max(0.0, ended - max(began, until))
        until = max(until, ended)
    return total


def main(arguments: Sequence[str]) -> int:
    """0 when every stage that counts passed."""
    parser = argparse.ArgumentParser(prog="python -m tests.stages")
    parser.add_argument("--only", choices=[stage.name for lanes in ROUNDS for lane in lanes for stage in lane])
    only = parser.parse_args(arguments).only
    CACHE.mkdir(exist_ok=True)
    for notes in (NOT_RUN, FIGURES):
        notes.unlink(missing_ok=True)
    chosen = [[tuple(stage for stage in lane if only in (None, stage.name)) for lane in lanes] for lanes in ROUNDS]
    results, held_back = run_rounds([[lane for lane in lanes if lane] for lanes in chosen])
    print(_summary(results, held_back), flush=True)
    return 0 if not held_back and all(result.green for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
