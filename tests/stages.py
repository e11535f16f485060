"""`make test`: every stage in order, how long each took, and at the end what could not run.

`python -m tests.stages [--only STAGE]`. The cheap stages all run even when one fails; the lab waits for them.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.second_try import run_pytest

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache"
NOT_RUN = CACHE / "not-run.txt"
FIGURES = CACHE / "figures.jsonl"
COUNTS = CACHE / "counts.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Commands that belong together; `needs_green` waits for all earlier stages, `advisory` cannot fail the run.

    `is_testing` is False for downloads, builds and fuzzing: what a second run needs less of, or as long as one likes.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    needs_green: bool = False
    advisory: bool = False
    is_testing: bool = True


# What a lab of five brokers and its clients may take, and what everything else here needs.
LAB_MEMORY, OTHER_MEMORY = 3.0, 1.5


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
# One more than there are processors: some tests wait for a silence or a time.
PROCESSES = min(4, (os.cpu_count() or 1) + 1)
PYTEST = ("pytest", "-q", "--durations=40", "--durations-min=3")
STAGES = (
    Stage(
        name="lint",
        commands=(
            ("ruff", "check", "."),
            ("ruff", "format", "--check", "."),
            ("mypy",),
            ("lint-imports", "--no-logo"),
        ),
    ),
    Stage(name="build", commands=(("python", "-m", "tests.rust", "--build"),), is_testing=False),
    Stage(name="native", commands=(("python", "-m", "tests.rust"),)),
    Stage(
        name="fuzz",
        commands=(("python", "-m", "tests.fuzz.native", "--fresh", "--minutes", "1"),),
        is_testing=False,
    ),
    Stage(name="tools", commands=(("python", "-m", "tests.tools"),), advisory=True, is_testing=False),
    Stage(
        name="fast",
        commands=(
            (*PYTEST, "-n", str(PROCESSES), "-m", "not lab and not alone"),
            # What is held to seconds has the machine for itself.
            (*PYTEST, "-m", "not lab and alone"),
        ),
    ),
    Stage(
        name="prerequisites",
        commands=(("python", "-m", "tests.lab.prerequisites"), ("python", "-m", "tests.lab.prepare", str(LABS))),
        needs_green=True,
        advisory=True,
        is_testing=False,
    ),
    # Engines side by side: a stack that starts computes, one that is asked mostly waits. A stack of five brokers and
    # its clients takes about 30 s of CPU and 70 s by the clock.
    Stage(
        name="lab",
        commands=(
            (*PYTEST, "-n", str(LABS), "-m", "lab and not alone"),
            (*PYTEST, "-m", "lab and alone"),
        ),
        needs_green=True,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How one stage ended; `failed` holds the commands that did, `unsteady` the tests that passed only alone.

    `counts` is what pytest counted, a line per run.
    """

    stage: Stage
    seconds: float
    failed: tuple[str, ...]
    unsteady: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()

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


def run_stages(stages: Sequence[Stage]) -> tuple[list[Result], list[Stage]]:
    """The results of the stages that ran, and the stages that did not because an earlier one failed."""
    results: list[Result] = []
    held_back: list[Stage] = []
    for stage in stages:
        if stage.needs_green and not all(result.green for result in results):
            held_back.append(stage)
        else:
            results.append(_run(stage))
    return results, held_back


def _run(stage: Stage) -> Result:
    began = time.monotonic()
    failed: list[str] = []
    unsteady: list[str] = []
    COUNTS.unlink(missing_ok=True)
    for number, command in enumerate(stage.commands):
        print(f"\n== {stage.name}: {' '.join(command)}", flush=True)
        if command[0] == "pytest":
            memory = CACHE / f"pytest-{stage.name}-{number}"
            tried = run_pytest(command, tree=ROOT, environment=_environment(), memory=memory)
            status = tried.status
            unsteady += tried.unsteady
        else:
            status = subprocess.run(command, cwd=ROOT, env=_environment(), check=False).returncode
        if status != 0:
            failed.append(" ".join(command))
    return Result(
        stage=stage,
        seconds=time.monotonic() - began,
        failed=tuple(failed),
        unsteady=tuple(unsteady),
        counts=tuple(COUNTS.read_text().splitlines()) if COUNTS.exists() else (),
    )


def _environment() -> dict[str, str]:
    """The tools of this environment first in PATH; where the tests leave their notes for the summary."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "NETDIAG_NOT_RUN": str(NOT_RUN),
        "NETDIAG_FIGURES": str(FIGURES),
        "NETDIAG_COUNTS": str(COUNTS),
        # import-linter and mypy draw for a terminal or a log, never for a colour-blind pipe
        "NO_COLOR": "1",
    }


def _summary(results: Sequence[Result], held_back: Sequence[Stage]) -> str:
    lines = ["", "== summary"]
    for result in results:
        lines.append(f"{result.stage.name:<14}{result.seconds:>6.0f} s  {result.word}")
        lines += [f"{'':<24}{counts}" for counts in result.counts]
    lines += [f"{stage.name:<14}     -    not started: an earlier stage failed" for stage in held_back]
    for what, is_testing in (("testing", True), ("downloads, builds, fuzzing", False)):
        lines.append(f"{what}: {sum(one.seconds for one in results if one.stage.is_testing is is_testing):.0f} s")
    unsteady = [test for result in results for test in result.unsteady]
    if unsteady:
        lines += ["unsteady, failed beside the others and passed alone:", *(f"  {test}" for test in unsteady)]
    not_run = list(dict.fromkeys(NOT_RUN.read_text().splitlines())) if NOT_RUN.exists() else []
    lines.append("could not run: " + ("nothing, all of it ran" if not not_run and not held_back else ""))
    lines += [f"  {line}" for line in not_run]
    lines += [f"  stage {stage.name}" for stage in held_back]
    return "\n".join(line.rstrip() for line in lines)


def main(arguments: Sequence[str]) -> int:
    """0 when every stage that counts passed."""
    parser = argparse.ArgumentParser(prog="python -m tests.stages")
    parser.add_argument("--only", choices=[stage.name for stage in STAGES])
    only = parser.parse_args(arguments).only
    CACHE.mkdir(exist_ok=True)
    for notes in (NOT_RUN, FIGURES):
        notes.unlink(missing_ok=True)
    results, held_back = run_stages([stage for stage in STAGES if only in (None, stage.name)])
    print(_summary(results, held_back), flush=True)
    return 0 if not held_back and all(result.green for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
