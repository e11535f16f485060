"""Scratch git repositories: one that uses netdiag, and a copy of this one to install from."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.cli.shell import BROKEN, CLEAN
from tests.house.examples import copy_of_repository
from tests.house.tree import ROOT

COMPOSE = {"broken": BROKEN, "clean": CLEAN}
_FOREIGN = (
    "GIT_",
    "PRE_COMMIT",
    "PYTHON",
    "VIRTUAL_ENV",
    "NETDIAG_",
    "PYTEST_",
    "COMPOSE_",
    "GITHUB_",
    "CI_",
    "RUNNER_",
)


def clean_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This environment without anything of the run around it; pip takes the versions that everything here takes."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_FOREIGN)}
    pinned = {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {**kept, **pinned, "LC_ALL": "C.UTF-8", **(more or {})}


def git(folder: Path, *words: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A git command with a name to commit under; a failure is the caller's to judge."""
    settings = ("user.name=somebody", "user.email=somebody@example.org", "init.defaultBranch=main")
    who = [word for setting in (*settings, "commit.gpgsign=false") for word in ("-c", setting)]
    return subprocess.run(
        ["git", *who, *words],
        cwd=folder,
        env=clean_environment(env),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def commit_all(folder: Path, message: str, *, env: Mapping[str, str] | None = None) -> str:
    """Make it a repository if it is none, commit everything; the commit's id."""
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "--no-verify", "-m", message)):
        done = git(folder, *words, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
    return git(folder, "rev-parse", "HEAD").stdout.strip()


def this_repository(folder: Path) -> str:
    """This tree, as it is now, as a repository with one commit in `folder`; the commit's id."""
    folder.mkdir()
    copy_of_repository(folder)
    (folder / ".venv").unlink(missing_ok=True)
    return commit_all(folder, "netdiag")
