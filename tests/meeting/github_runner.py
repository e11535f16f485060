"""Carries out a composite action as GitHub's runner does, as far as action.yml uses it.

Each `run` step is a script of its own under bash with -e and pipefail (here with -u, too); GITHUB_OUTPUT and
GITHUB_STEP_SUMMARY are files; expressions are looked up in contexts. A step that `uses` another action is noted.
"""

import re
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.meeting.repositories import clean_environment

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
            job.used[step["uses"]] = {name: _said(value, contexts) for name, value in step["with"].items()}
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
