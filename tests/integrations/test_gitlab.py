"""The GitLab template: valid, and what its script does under sh in a project."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from ruamel.yaml import YAML

from tests.cli.shell import BROKEN, CLEAN, NO_BROKER
from tests.house.tree import ROOT
from tests.integrations.repositories import clean_environment
from tests.render import schemas

TEMPLATE = ROOT / "templates" / "netdiag.gitlab-ci.yml"
JOB: dict[str, Any] = YAML(typ="safe", pure=True).load(TEMPLATE.read_text())["netdiag"]
QUALITY, JUNIT = JOB["artifacts"]["reports"]["codequality"], JOB["artifacts"]["reports"]["junit"]


def test_the_schema_of_gitlab_ci() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.gitlab-ci", TEMPLATE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment that before_script makes, with this tree in the place of a published package."""
    folder = tmp_path_factory.mktemp("gitlab")
    done = _run(JOB["before_script"], folder, {"NETDIAG_PACKAGE": str(ROOT)})
    assert done.returncode == 0, done.stdout
    return folder / ".netdiag-venv"


def test_without_a_package_it_says_what_to_set_and_installs_nothing(tmp_path: Path) -> None:
    done = _run(JOB["before_script"], tmp_path, {"NETDIAG_PACKAGE": ""})
    assert (done.returncode, done.stdout.count("\n")) == (2, 1)
    assert done.stdout.startswith("netdiag: NETDIAG_PACKAGE is not set: ")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def project(installed: Path, tmp_path: Path) -> Path:
    """A project with a broken stack, a clean one and one without Kafka."""
    (tmp_path / ".netdiag-venv").symlink_to(installed)
    for name, text in (("a b/docker-compose.yml", BROKEN), ("compose.yaml", CLEAN), ("web-compose.yml", NO_BROKER)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("variables", "status", "told"),
    [
        ({}, 1, "a b/docker-compose.yml:8:35: error:"),
        ({"NETDIAG_FILES": "compose.yaml\nweb-compose.yml\n"}, 0, "0 errors"),
        ({"NETDIAG_FILES": "a b/docker-compose.yml"}, 1, "a b/docker-compose.yml:8:35: error:"),
        ({"NETDIAG_FILES": "web-compose.yml"}, 0, "no Kafka broker found"),
        ({"NETDIAG_FILES": "gone.yml"}, 3, "gone.yml"),
        ({"NETDIAG_ARGS": "--exit-zero"}, 0, "a b/docker-compose.yml:8:35: error:"),
        ({"NETDIAG_FILES": "$(touch evil)\n`touch evil`\n; touch evil"}, 3, "touch evil"),
        ({"NETDIAG_ARGS": "$(touch evil) ;touch evil"}, 3, ""),
        ({"NETDIAG_FAIL_ON": "nonsense"}, 2, "nonsense"),
    ],
)
def test_the_script(project: Path, variables: dict[str, str], status: int, told: str) -> None:
    done = _run(JOB["script"], project, variables)
    assert done.returncode == status, done.stdout
    assert told in done.stdout or told == "0 errors"
    assert not list(project.glob("**/evil"))
    if status != 2:
        quality = (project / QUALITY).read_text()
        assert not list(schemas.gitlab(quality))
        assert (status == 0 and not variables.get("NETDIAG_ARGS")) or json.loads(quality)
        assert not list(schemas.junit((project / JUNIT).read_text()))
        assert fromstring((project / JUNIT).read_bytes()).tag == "testsuites"


def test_a_project_without_compose_files(installed: Path, tmp_path: Path) -> None:
    (tmp_path / ".netdiag-venv").symlink_to(installed)
    done = _run(JOB["script"], tmp_path, {})
    assert (done.returncode, done.stdout) == (0, "netdiag: no compose or CI file in this repository\n")


def _run(lines: list[str], project: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The lines as GitLab's runner does in an image: one after the other, under sh with -e."""
    return subprocess.run(
        ["sh", "-e"],
        input="\n".join(lines),
        cwd=project,
        env=clean_environment({**JOB["variables"], **variables, "CI_PROJECT_DIR": str(project)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
