"""action.yml: valid, safe against its inputs, and what its steps do when they run.

A composite action is carried out as GitHub's runner does, as far as action.yml uses it. Each `run` step is a script of
its own under bash with -e and pipefail (here with -u, too); GITHUB_OUTPUT and GITHUB_STEP_SUMMARY are files;
expressions are looked up in contexts. A step that `uses` another action is noted.
"""

import json
import re
import subprocess
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.cli.shell import BROKEN, CLEAN, NO_BROKER
from tests.house.tree import ROOT
from tests.integrations.repositories import clean_environment, commit_all, this_repository
from tests.render.test_sarif import run_of

EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_CONDITION = re.compile(r"([\w.-]+) (==|!=) '([^']*)'")


@dataclass(slots=True, kw_only=True)
class Job:
    """What a run of an action left behind."""

    status: int = 0
    log: str = ""
    summary: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """A machine: the folder of the action, its scratch folder, and where the action comes from."""

    action: Path
    scratch: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    github: Mapping[str, str] = field(default_factory=dict)

    @property
    def definition(self) -> dict[str, Any]:
        """action.yml, read."""
        read: dict[str, Any] = YAML(typ="safe", pure=True).load((self.action / "action.yml").read_text())
        return read

    def run(self, workspace: Path, inputs: Mapping[str, str], *, without: Collection[str] = ()) -> Job:
        """Run the steps in a checked-out repository, those of `without` excepted."""
        definition, job = self.definition, Job()
        unknown = inputs.keys() - definition["inputs"].keys()
        assert not unknown
        given = {name: inputs.get(name, about["default"]) for name, about in definition["inputs"].items()}
        contexts = {f"inputs.{name}": value for name, value in given.items()}
        contexts |= {f"github.{name}": value for name, value in self.github.items()}
        for step in definition["runs"]["steps"]:
            if job.status == 0 and step["name"] not in without and _holds(step.get("if"), contexts):
                self._step(step, workspace, contexts, job)
        job.outputs = {name: _said(about["value"], contexts) for name, about in definition["outputs"].items()}
        return job

    def _step(self, step: dict[str, Any], workspace: Path, contexts: dict[str, str], job: Job) -> None:
        if "uses" in step:
            job.used[step["uses"].partition("@")[0]] = {
                name: _said(value, contexts) for name, value in step["with"].items()
            }
            return
        assert step["shell"] == "bash"
        script, output, summary = (self.scratch / name for name in ("step.sh", "output", "summary"))
        script.write_text(step["run"])
        output.write_text("")
        summary.write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-euo", "pipefail", script],
            cwd=workspace,
            env=clean_environment(
                {
                    "GITHUB_ACTION_PATH": str(self.action),
                    "GITHUB_OUTPUT": str(output),
                    "GITHUB_SERVER_URL": "https://github.example",
                    "GITHUB_STEP_SUMMARY": str(summary),
                    "GITHUB_WORKSPACE": str(workspace),
                    "RUNNER_TEMP": str(self.scratch),
                    **self.environ,
                    **{name: _said(value, contexts) for name, value in step.get("env", {}).items()},
                }
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        job.status = done.returncode
        job.log += done.stdout
        job.summary += summary.read_text()
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            contexts[f"steps.{step['id']}.outputs.{name}"] = value


def _said(text: str, contexts: Mapping[str, str]) -> str:
    """A value with its expressions looked up; what nobody set is empty, as with the runner."""
    said = EXPRESSION.sub(lambda match: contexts.get(match[1], ""), text)
    assert "${{" not in EXPRESSION.sub("", text), f"an expression that this runner does not know: {text}"
    return said


def _holds(condition: str | None, contexts: Mapping[str, str]) -> bool:
    if condition is None:
        return True
    parts = [_CONDITION.fullmatch(part) for part in condition.split(" && ")]
    assert all(parts), f"a condition that this runner does not know: {condition}"
    return all((contexts.get(part[1], "") == part[3]) is (part[2] == "==") for part in parts if part)


ACTION = ROOT / "action.yml"
INSTALL = "Install netdiag"
UPLOAD = "github/codeql-action/upload-sarif"
EVIL = "$(touch evil) `touch evil`; touch evil; '\" ${{ github.token }} && touch evil"


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A machine on which the action has been installed by its own step."""
    folder = tmp_path_factory.mktemp("runner")
    this_repository(folder / "action")
    (folder / "scratch").mkdir()
    runner = Runner(
        action=folder / "action",
        scratch=folder / "scratch",
        github={"action_repository": "somebody/netdiag", "action_ref": "v1"},
    )
    empty = tmp_path_factory.mktemp("empty")
    _put(empty, "README.md", "no compose file here")
    commit_all(empty, "begin")
    job = runner.run(empty, {})
    assert job.status == 0, job.log
    assert "netdiag 0." in job.log
    assert "no compose or CI file in this repository" in job.log
    assert job.outputs == {"status": "0", "sarif": ""}
    return runner


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one broken stack, one clean, one without Kafka, and one that git does not track."""
    _put(tmp_path, "a b/docker-compose.yml", BROKEN)
    _put(tmp_path, "clean/compose.yaml", CLEAN)
    _put(tmp_path, "web/compose.yml", NO_BROKER)
    _put(tmp_path, "values.yml", BROKEN)
    _put(tmp_path, "lenient.toml", 'ignore = ["listener-bound-to-foreign-address"]\n')
    commit_all(tmp_path, "begin")
    _put(tmp_path, "untracked/compose.yml", BROKEN)
    return tmp_path


def test_the_schema_of_actions() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", ACTION],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_no_expression_is_executed() -> None:
    """What stands in an expression inside a script becomes a part of the script."""
    steps = Runner(action=ROOT, scratch=ROOT).definition["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 3
    for script in scripts:
        assert "${{" not in script
        assert "eval" not in script
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_every_input_is_used() -> None:
    definition = Runner(action=ROOT, scratch=ROOT).definition
    text = ACTION.read_text()
    used = {name for name in EXPRESSION.findall(text) if name.startswith("inputs.")}
    assert {f"inputs.{name}" for name in definition["inputs"]} - used == {"inputs.upload-sarif"}
    assert "if: inputs.upload-sarif == 'true'" in text


def test_every_tracked_compose_file_is_checked(runner: Runner, project: Path) -> None:
    job = runner.run(project, {}, without=(INSTALL,))
    assert job.status == 1
    assert job.outputs["status"] == "1"
    (annotation,) = [line for line in job.log.splitlines() if line.startswith("::error")]
    assert "file=a b/docker-compose.yml,line=8," in annotation
    assert "listener-bound-to-foreign-address" in job.summary
    assert "values.yml" not in job.log + job.summary
    run = run_of(Path(job.outputs["sarif"]).read_text())
    (result,) = [result for result in run["results"] if result["level"] == "error"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/docker-compose.yml"
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["helpUri"] == f"https://github.example/somebody/netdiag/blob/v1/docs/rules/{rule['id']}.md"
    assert not job.used


@pytest.mark.parametrize(
    ("inputs", "status", "told"),
    [
        ({"files": "clean/compose.yaml"}, 0, ""),
        ({"files": "\n  \nclean/compose.yaml\r\nweb/compose.yml\n"}, 0, ""),
        ({"files": "web/compose.yml"}, 0, ""),
        ({"files": "a b/docker-compose.yml"}, 1, "::error title=netdiag listener-bound-to-foreign-address"),
        ({"files": "a b/*.yml"}, 1, "::error title=netdiag listener-bound-to-foreign-address"),
        ({"files": "**/values.yml"}, 1, "file=values.yml,"),
        ({"files": "untracked/compose.yml"}, 1, "file=untracked/compose.yml,"),
        ({"files": "gone.yml"}, 3, "gone.yml: no such file"),
        ({"files": "-h"}, 3, "-h: no such file"),
        ({"args": "--no-such-option"}, 2, "No such option"),
        ({"args": "--docker-host-ip 1.2.3.4  --no-matrix"}, 1, "::error"),
        ({"config": "gone.toml"}, 3, "gone.toml"),
        ({"config": "lenient.toml", "files": "a b/docker-compose.yml"}, 0, ""),
        ({"fail-on": "never"}, 0, "::error"),
        ({"fail-on": "never", "files": "gone.yml"}, 3, "gone.yml: no such file"),
        ({"fail-on": "nonsense"}, 2, "nonsense"),
    ],
)
def test_inputs(runner: Runner, project: Path, inputs: dict[str, str], status: int, told: str) -> None:
    job = runner.run(project, inputs, without=(INSTALL,))
    assert (job.status, told in job.log) == (status, True), job.log
    # A run that could not begin leaves nothing to upload.
    assert (job.outputs["sarif"] == "") is (status == 2 or inputs.get("config") == "gone.toml")


@pytest.mark.parametrize("name", ["files", "config", "args", "fail-on", "summary", "upload-sarif"])
def test_an_input_is_never_a_command(runner: Runner, project: Path, name: str) -> None:
    runner.run(project, {name: EVIL}, without=(INSTALL,))
    assert not list(project.rglob("evil"))


def test_what_a_repository_holds_is_never_a_command(runner: Runner, project: Path) -> None:
    name = "$(touch evil);`touch evil`\n::error::x compose.yml"
    _put(project, name, BROKEN.replace("kafka:", '"$(touch evil)\\n::error::y":', 1))
    commit_all(project, "evil")
    job = runner.run(project, {}, without=(INSTALL,))
    assert job.status in (1, 3)
    assert not list(project.rglob("evil"))
    commands = [line for line in job.log.splitlines() if "::" in line]
    assert commands
    assert all(re.match("::(error|warning|notice) title=netdiag", line) for line in commands), job.log


def test_upload_and_summary_are_chosen(runner: Runner, project: Path) -> None:
    job = runner.run(project, {"upload-sarif": "true", "summary": "false"}, without=(INSTALL,))
    assert job.used == {UPLOAD: {"sarif_file": job.outputs["sarif"], "category": "netdiag"}}
    assert json.loads(Path(job.outputs["sarif"]).read_text())["runs"]
    assert (job.status, job.summary) == (1, "")


def test_nothing_is_uploaded_that_was_not_written(runner: Runner, project: Path) -> None:
    job = runner.run(project, {"upload-sarif": "true", "args": "--no-such-option"}, without=(INSTALL,))
    assert (job.used, job.outputs["sarif"], job.status) == ({}, "", 2)


def test_the_environment_of_a_run_is_its_own() -> None:
    assert not [name for name in clean_environment() if name.startswith(("GITHUB_", "GIT_", "NETDIAG_"))]


def _put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
