"""The hook of .pre-commit-hooks.yaml: pre-commit installs it from a clone and refuses commits with it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.cli.shell import BROKEN, CLEAN, NO_BROKER
from tests.house.tree import ROOT
from tests.integrations.repositories import clean_environment, commit_all, git, this_repository

MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOK = "netdiag-check-listeners"


def test_the_manifest_is_what_pre_commit_takes() -> None:
    done = _pre_commit("validate-manifest", str(MANIFEST), cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("compose.yml", True),
        ("compose.yaml", True),
        ("docker-compose.yml", True),
        ("docker-compose.override.yml", True),
        ("compose.prod.yaml", True),
        ("a/b/docker-compose-kafka.yml", True),
        ("kafka-compose.yml", True),
        ("kafka.yml", False),
        (".github/workflows/ci.yml", True),
        (".gitlab-ci.yml", True),
        ("a/.gitlab-ci.yml", False),
        (".github/dependabot.yml", False),
        ("compose/values.yml", False),
        ("compose.yml.j2", False),
        ("compose.json", False),
        ("docs/compose.md", False),
    ],
)
def test_the_files_that_it_takes(path: str, taken: bool) -> None:
    (hook,) = YAML(typ="safe", pure=True).load(MANIFEST.read_text())
    assert bool(re.search(hook["files"], path)) is taken


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, dict[str, str]]:
    """This tree as a repository, its commit, and the environment in which pre-commit keeps what it installs."""
    folder = tmp_path_factory.mktemp("hook")
    commit = this_repository(folder / "netdiag")
    return str(folder / "netdiag"), commit, {"PRE_COMMIT_HOME": str(folder / "home")}


@pytest.fixture
def project(home: tuple[str, str, dict[str, str]], tmp_path: Path) -> Path:
    """A repository whose commits the hook guards."""
    source, commit, env = home
    (tmp_path / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {source}\n    rev: {commit}\n    hooks:\n      - id: {HOOK}\n"
    )
    commit_all(tmp_path, "begin")
    done = _pre_commit("install", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path


def test_a_commit_is_refused_until_it_is_repaired(project: Path, home: tuple[str, str, dict[str, str]]) -> None:
    deep = project / "a b" / "docker-compose.yml"
    deep.parent.mkdir()
    deep.write_text(BROKEN)
    refused = _commit(project, home)
    assert refused.returncode == 1
    assert 'a b/docker-compose.yml:8:35: error: listener EXTERNAL of kafka binds "1.2.3.4"' in refused.stderr
    assert "- exit code: 1" in refused.stderr
    assert "Where clients can connect" not in refused.stderr
    deep.write_text(CLEAN)
    assert _commit(project, home).returncode == 0
    assert git(project, "status", "--porcelain").stdout == ""


def test_what_holds_no_broker_may_be_committed(project: Path, home: tuple[str, str, dict[str, str]]) -> None:
    (project / "compose.yml").write_text(NO_BROKER)
    done = _commit(project, home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stderr


def test_other_yaml_is_none_of_its_business(project: Path, home: tuple[str, str, dict[str, str]]) -> None:
    (project / "values.yml").write_text(BROKEN)
    done = _commit(project, home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Skipped" in done.stderr


def test_an_override_alone_is_no_defect(project: Path, home: tuple[str, str, dict[str, str]]) -> None:
    """pre-commit names only what changed: a fragment without its base must not be taken for a broken broker."""
    (project / "compose.yml").write_text(CLEAN)
    assert _commit(project, home).returncode == 0
    (project / "compose.override.yml").write_text("services:\n  kafka:\n    environment:\n      KAFKA_LOG4J_ROOT: x\n")
    done = _commit(project, home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stderr


def _commit(project: Path, home: tuple[str, str, dict[str, str]]) -> subprocess.CompletedProcess[str]:
    git(project, "add", "-A")
    return git(project, "commit", "-m", "change", env=home[2])


def _pre_commit(*words: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *words],
        cwd=cwd,
        env=clean_environment(env),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
