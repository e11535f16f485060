"""Fresh virtual environments with the wheel in them, as a user would have: pip, and the package index."""

import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.house.tree import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """One virtual environment."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def install(self, *words: str | Path) -> None:
        """pip install, quietly; a failure shows what pip said."""
        pip = (sys.executable, "-m", "pip", "--python", self.python, "--disable-pip-version-check")
        done = _run([*pip, "install", "--quiet", "--no-compile", *words], ROOT)
        assert done.returncode == 0, done.stdout + done.stderr

    def run(self, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Python with these arguments."""
        return _run([self.python, *words], cwd)

    def netdiag(self, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """The installed console script."""
        return _run([self.folder / "bin" / "netdiag", *words], cwd)


def create(folder: Path) -> Environment:
    """A new one, of the Python that runs the tests; its pip is that of the tests, which takes half the time."""
    venv.create(folder, with_pip=False, symlinks=True)
    return Environment(folder=folder)


def build_wheel(folder: Path) -> Path:
    """The wheel of this tree, built with what .ci/locked/build.txt names."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
        text=True,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def extras() -> dict[str, list[str]]:
    """The requirements of each extra as pyproject.toml declares them; "" is the bare install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional: dict[str, list[str]] = project["optional-dependencies"]
    return {"": project["dependencies"], **{name: optional[name] for name in optional if name != "all"}}


def lower_bounds(requirements: Iterable[str]) -> list[str]:
    """`name>=1.2,<2` as `name==1.2`; a requirement without a lower bound is an error."""
    pins = []
    for requirement in requirements:
        match = re.fullmatch(r"([\w.-]+)>=([\w.]+)(,<[\w.]+)?", requirement)
        assert match, f"no lower bound to prove in {requirement!r}"
        pins.append(f"{match[1]}=={match[2]}")
    return pins


def pinned(*names: str) -> list[str]:
    """These packages with the version that constraints.txt names."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line.partition("==")[0] in names]
    assert len(pins) == len(names), pins
    return pins


def _run(words: list[Path | str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Without anything of the run around it: no PYTHONPATH, no virtual environment, no engine of somebody's."""
    foreign = ("PYTHON", "VIRTUAL_ENV", "DOCKER_", "NETDIAG_", "COV_", "PYTEST_")
    env = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=600)
