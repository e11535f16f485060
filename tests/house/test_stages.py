"""`make test` runs its lanes side by side, stops before the lab when something cheap failed, says what did not run."""

import subprocess
from pathlib import Path

import pytest

from tests import stages
from tests.house.tree import ROOT
from tests.stages import Lane, Stage, labs, main, run_rounds
from tests.test_second_try import UNSTEADY

GREEN = Stage(name="green", commands=(("true",),))
RED = Stage(name="red", commands=(("false",), ("true",)))
ADVICE = Stage(name="advice", commands=(("false",),), advisory=True)
LAST = Stage(name="last", commands=(("true",),), needs_green=True)
BUILD = Stage(name="build", commands=(("sleep", "0.6"),), is_testing=False)
SLOW = Stage(name="slow", commands=(("sleep", "0.7"),))


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of its own for what stages note."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setattr(stages, "CACHE", folder)
    monkeypatch.setattr(stages, "NOT_RUN", folder / "not-run.txt")
    monkeypatch.setattr(stages, "FIGURES", folder / "figures.jsonl")
    return folder


@pytest.mark.parametrize(
    ("given", "words", "held_back"),
    [
        (((GREEN,), (LAST,)), ["passed", "passed"], []),
        (((RED, GREEN), (LAST,)), ["FAILED: false", "passed"], ["last"]),
        (((RED, LAST),), ["FAILED: false", "passed"], []),
        (((GREEN, ADVICE), (LAST,)), ["passed", "incomplete, see below", "passed"], []),
        (((RED,), (LAST, GREEN), (LAST,)), ["FAILED: false", "passed"], ["last", "last"]),
    ],
)
def test_a_stage_that_needs_green_waits_for_all_rounds_before_it(
    given: tuple[tuple[Stage, ...], ...], words: list[str], held_back: list[str]
) -> None:
    results, waiting = run_rounds([[(stage,) for stage in lanes] for lanes in given])
    assert [result.word for result in results] == words
    assert [stage.name for stage in waiting] == held_back


def test_lanes_run_side_by_side_and_print_one_after_another(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each of two waits for the other; the second one's lines stay together."""

    def lane(name: str, other: str) -> Lane:
        script = f"echo {name} 1; touch {name}; until test -e {other}; do sleep 0.02; done; echo {name} 2"
        return (Stage(name=name, commands=(("sh", "-c", f"cd {tmp_path}; {script}"),)),)

    results, _ = run_rounds([[lane("one", "two"), lane("two", "one")]])
    assert [result.word for result in results] == ["passed", "passed"]
    assert "\ntwo 1\ntwo 2\n" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        (((GREEN,),), 0, "could not run: nothing, all of it ran"),
        (((RED,), (LAST,)), 1, "could not run:\n  stage last"),
        (((ADVICE,),), 0, "could not run: nothing, all of it ran"),
        (((GREEN, BUILD),), 0, "testing: 0 s\ndownloads, builds, fuzzing, while nothing was tested: 1 s\n"),
        (((SLOW, BUILD), (BUILD,)), 0, "testing: 1 s\ndownloads, builds, fuzzing, while nothing was tested: 1 s\n"),
        (((Stage(name="s", commands=(("sh", "-c", 'echo "a part" >> "$NETDIAG_NOT_RUN"'),)),),), 0, "  a part"),
    ],
)
def test_the_summary_names_what_did_not_run(
    given: tuple[tuple[Stage, ...], ...],
    status: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(stages, "ROUNDS", [[(stage,) for stage in lanes] for lanes in given])
    assert main([]) == status
    assert said in capfd.readouterr().out


def test_the_summary_names_tests_that_passed_only_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(UNSTEADY)
    commands = (("pytest", "-q", "-p", "tests.counts", str(tmp_path)),)
    monkeypatch.setattr(stages, "ROUNDS", [[(Stage(name="s", commands=commands),)]])
    assert main([]) == 0
    said = capfd.readouterr().out
    assert "passed, with unsteady tests: see below" in said
    # pytest's own counts, of the first run and of the one that tried again
    counts = [line.strip() for line in said.partition("== summary")[2].splitlines() if line.startswith(" " * 24)]
    assert len(counts) == 2
    assert (counts[0].startswith("1 failed"), counts[1]) == (True, "1 passed")
    assert "unsteady, failed beside the others and passed alone:\n  test_it.py::test_unsteady\n" in said


@pytest.mark.parametrize(
    ("gigabytes", "processors", "expected"),
    [(24.0, 2, 3), (15.0, 8, 3), (14.5, 2, 2), (12.0, 4, 2), (11.5, 4, 0), (24.0, 1, 0), (0.0, 8, 0)],
)
def test_several_labs_run_where_there_is_room_for_them(gigabytes: float, processors: int, expected: int) -> None:
    assert labs(gigabytes, processors) == expected


def test_no_test_is_in_no_stage() -> None:
    """Every test is marked `lab` or not, and those `alone` or not: what the commands choose is all there is."""
    every = [stage for lanes in stages.ROUNDS for lane in lanes for stage in lane]
    chosen = [command[-1] for stage in every for command in stage.commands if command[0] == "pytest"]
    assert chosen == ["not lab and not alone", "lab and not alone", "not lab and alone", "lab and alone"]
    assert len({stage.name for stage in every}) == len(every)


def test_ci_runs_what_the_readme_says() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert "-m tests.bare_root make test\n" in script
    assert "\nmake test\n" in script


@pytest.mark.parametrize(
    "script", sorted(path for path in (ROOT / ".ci").iterdir() if path.is_file()), ids=lambda path: str(path.name)
)
def test_the_scripts_are_executable_and_valid_shell(script: Path) -> None:
    shell = "bash" if b"bash" in script.read_bytes().partition(b"\n")[0] else "sh"
    assert script.stat().st_mode & 0o111
    subprocess.run([shell, "-n", script], check=True)


def test_a_python_that_is_too_old_is_told_with_what_to_install(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\ncase "$2" in *print*) echo 3.9;; *) exit 1;; esac\n')
    old.chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", ROOT / ".ci" / "python"], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"found: {old} (3.9)" in done.stderr
    assert "apt-get install python3-venv" in done.stderr
