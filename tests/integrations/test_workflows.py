"""The workflows of .github and the action: valid, pinned, and nothing that zizmor and actionlint object to."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tests.integrations.repositories import commit_all
from tests.lab.actionlint import actionlint_binary
from tests.lab.cache import cache_root
from tests.tools import tool

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
ACTION = ROOT / "action.yml"
_USES = re.compile(r"^\s*(?:- )?uses: (.*)$", re.MULTILINE)
_PINNED = re.compile(r"([\w.-]+/[\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)")


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_the_schema_of_workflows(workflow: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", workflow],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_every_action_has_one_commit_and_its_version() -> None:
    pins = [_PINNED.fullmatch(used) for path in (*WORKFLOWS, ACTION) for used in _USES.findall(path.read_text())]
    assert len(pins) > 10
    assert all(pins), "uses: OWNER/NAME@COMMIT # vX.Y.Z"
    assert len({pin[1] for pin in pins if pin}) == len({pin.groups() for pin in pins if pin})


def test_zizmor_has_nothing_to_say() -> None:
    done = _zizmor(*WORKFLOWS, ACTION)
    assert done.returncode == 0, done.stdout
    assert "No findings to report" in done.stdout + done.stderr


def test_actionlint_has_nothing_to_say() -> None:
    done = _actionlint(*WORKFLOWS)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_is_wrong_is_found_by_both(tmp_path: Path) -> None:
    broken = tmp_path / "ci.yml"
    text = (FOLDER / "ci.yml").read_text()
    text = _USES.sub("      - uses: actions/checkout@v7", text, count=1)
    broken.write_text(text.replace("run: sudo env CI=true .ci/run", "run: echo ${{ github.event.issue.title }} $x"))
    assert {"unpinned-uses", "template-injection"} <= set(re.findall(r"\[([a-z-]+)\]: ", _zizmor(broken).stdout))
    said = _actionlint(broken).stdout
    assert "[expression]" in said
    assert "[shellcheck]" in said


def test_netdiag_has_nothing_to_say(tmp_path: Path) -> None:
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    commit_all(tmp_path, "begin")
    done = subprocess.run(
        [sys.executable, "-m", "netdiag", "check-listeners", "--ci"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4, "no job has a broker"
    assert done.stdout.startswith("no findings in ")


def test_the_scripts_of_ci_are_sound() -> None:
    scripts = list(_scripts())
    assert ROOT / ".ci" / "run" in scripts
    done = subprocess.run([tool("shellcheck"), *scripts], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def _scripts() -> Iterator[Path]:
    for path in sorted((ROOT / ".ci").iterdir()):
        if path.is_file():
            assert path.read_text().startswith("#!"), path
            yield path


def _zizmor(*files: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("zizmor"), "--offline", "--persona", "auditor", "--color", "never", *files],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def _actionlint(*files: Path) -> subprocess.CompletedProcess[str]:
    tool("go")
    return subprocess.run(
        [actionlint_binary(cache_root()), "-no-color", "-shellcheck", tool("shellcheck"), *files],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
