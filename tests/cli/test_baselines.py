"""Baselines through the process: written, overlooked, stale, the same from every folder."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.shell import BROKEN, netdiag
from tests.render.sarif_structure import run_of

FOREIGN = "listener-bound-to-foreign-address"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "compose.yml").write_text(BROKEN, encoding="utf-8")
    (tmp_path / "ci").mkdir()
    done = netdiag("check-listeners", "--write-baseline", "ci/known.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"netdiag: 1 finding written to ci/known.json\n" in done.stderr
    assert done.stdout.endswith(b"no findings in 1 file (1 broker); 1 suppressed\n")
    assert os.listdir(tmp_path / "ci") == ["known.json"]
    return tmp_path


def found(folder: Path, *words: str) -> tuple[int, list[str], list[str]]:
    done = netdiag("check-listeners", "--format", "json", *words, cwd=folder)
    value = json.loads(done.stdout)
    return (
        done.returncode,
        [item["rule"] for item in value["findings"]],
        [item["finding"]["rule"] for item in value["suppressed"] if item["by"] == "baseline"],
    )


def test_what_is_known_is_overlooked(project: Path) -> None:
    known: tuple[int, list[str], list[str]] = (0, [], [FOREIGN])
    assert found(project, "--baseline", "ci/known.json") == known
    assert found(project / "ci", "--baseline", "known.json", "../compose.yml") == known
    whole = str(project / "compose.yml")
    assert found(Path("/"), "--baseline", str(project / "ci" / "known.json"), whole) == known
    run = run_of(netdiag("check-listeners", "--baseline=ci/known.json", "--format=sarif", cwd=project).stdout.decode())
    assert [result["suppressions"] for result in run["results"]] == [[{"kind": "external", "status": "accepted"}]]


def test_lines_that_move_are_known_and_lines_that_change_are_not(project: Path) -> None:
    (project / "compose.yml").write_text("# new\n\n" + BROKEN, encoding="utf-8")
    assert found(project, "--baseline", "ci/known.json")[0] == 0
    (project / "compose.yml").write_text(BROKEN.replace("1.2.3.4", "1.2.3.5"), encoding="utf-8")
    assert found(project, "--baseline", "ci/known.json") == (1, [FOREIGN, "stale-baseline"], [])


def test_stale_entries_are_notes_and_writing_again_prunes(project: Path) -> None:
    (project / "compose.yml").write_text(BROKEN.replace("1.2.3.4", "0.0.0.0"), encoding="utf-8")
    quiet = ("--ignore", "advertised-")
    assert found(project, *quiet, "--baseline", "ci/known.json") == (0, ["stale-baseline"], [])
    assert found(project, *quiet, "--baseline", "ci/known.json", "--fail-on", "note")[0] == 1
    text = netdiag("check-listeners", *quiet, "--baseline", "ci/known.json", cwd=project).stdout
    assert b"ci/known.json:4:" in text
    assert found(project, "--ignore", "advertised-,stale-baseline", "--baseline", "ci/known.json") == (0, [], [])
    assert found(project, *quiet, "--write-baseline", "ci/known.json") == (0, [], [])
    assert json.loads((project / "ci" / "known.json").read_bytes())["findings"] == []


def test_what_was_not_looked_at_is_not_stale(project: Path) -> None:
    (project / "compose.yml").rename(project / "other.yml")
    assert "stale-baseline" not in found(project, "--baseline", "ci/known.json", "other.yml")[1]
    (project / "other.yml").rename(project / "compose.yml")
    assert found(project, "--baseline", "ci/known.json", "--select", "kraft-,stale-baseline") == (0, [], [])


def test_the_same_findings_give_the_same_bytes(project: Path) -> None:
    first = (project / "ci" / "known.json").read_bytes()
    netdiag("check-listeners", "--write-baseline", "ci/known.json", str(project / "compose.yml"), cwd=project)
    assert (project / "ci" / "known.json").read_bytes() == first


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--baseline", "gone.json"], 3),
        (["--baseline", "compose.yml"], 2),
        (["--baseline", "ci/known.json", "--write-baseline", "x.json"], 2),
        (["--fix", "--write-baseline", "x.json"], 2),
        (["--write-baseline", "x.json", "gone.yml"], 3),
        (["--write-baseline", "gone/x.json"], 3),
    ],
)
def test_refused(project: Path, words: list[str], status: int) -> None:
    done = netdiag("check-listeners", *words, cwd=project)
    assert done.returncode == status, done.stderr
    assert b"Traceback" not in done.stderr
    assert not (project / "x.json").exists()


def test_what_is_known_is_not_repaired(project: Path) -> None:
    assert netdiag("check-listeners", "--fix", "--baseline", "ci/known.json", cwd=project).returncode == 0
    assert (project / "compose.yml").read_text(encoding="utf-8") == BROKEN
