"""The Dockerfile, as far as it can be carried out without the registry that its base image comes from.

The steps of the build stage are run here, in folders that stand for those of the image, on the context that
.dockerignore lets through. Not carried out: pulling the base, and the engine putting the layers together.
"""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from netdiag import __version__
from netdiag.engine.helper_container import COMMAND, Frames, Kind, decode_hello
from tests.cli.shell import BROKEN
from tests.house.tree import ROOT, files
from tests.integrations.repositories import clean_environment

LINES = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if line.strip() and not line.startswith("#")]
STEPS = [(name, value) for name, value in (line.split(None, 1) for line in LINES)]


def test_it_is_small_and_not_root() -> None:
    assert [name for name, _ in STEPS].count("FROM") == 2
    assert {value.split()[0] for name, value in STEPS if name == "FROM"} == {"${BASE}"}
    assert re.fullmatch(r"BASE=python:3\.13-slim(@sha256:[0-9a-f]{64})?", dict(STEPS)["ARG"])
    last = STEPS[max(at for at, (name, _) in enumerate(STEPS) if name == "FROM") :]
    assert [name for name, _ in last] == ["FROM", "COPY", "ENV", "USER", "WORKDIR", "ENTRYPOINT", "CMD"]
    assert dict(last)["COPY"] == "--from=build /opt/netdiag /opt/netdiag"
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", dict(last)["USER"])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the build stage leaves in /opt/netdiag."""
    folder = tmp_path_factory.mktemp("image")
    source, target = folder / "src", folder / "opt" / "netdiag"
    kept = _context(source)
    assert "netdiag/cli/main.py" in kept
    assert not [name for name in kept if name.startswith(("tests/", "docs/", ".git"))]
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    stage = STEPS[1 : next(at for at, (name, _) in enumerate(STEPS) if name == "FROM" and at > 1)]
    assert [name for name, _ in stage] == ["FROM", "WORKDIR", "COPY", *["RUN"] * 7]
    for name, command in stage:
        if name == "RUN":
            done = subprocess.run(
                ["sh", "-c", command.replace("/opt", str(folder / "opt"))],
                cwd=source,
                env=clean_environment({"PATH": f"{folder / 'bin'}:/usr/bin:/bin"}),
                capture_output=True,
                text=True,
                check=False,
                timeout=600,
            )
            assert done.returncode == 0, done.stderr
    return target


def test_the_command_runs_from_what_was_built(built: Path, tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(BROKEN)
    for words, status, told in (
        (["--version"], 0, f"netdiag {__version__}\n"),
        (["check-listeners", "compose.yml"], 1, "listener-bound-to-foreign-address"),
    ):
        done = subprocess.run(
            [built / "bin" / "netdiag", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        assert told in done.stdout


def test_what_was_built_can_be_the_helper_of_via_container(built: Path, tmp_path: Path) -> None:
    told = f"docker build --tag netdiag:{__version__} ."
    assert told in (ROOT / "Dockerfile").read_text()
    argv = [str(built / "bin" / "python"), *COMMAND[1:]]
    done = subprocess.run(argv, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    ((kind, data),) = Frames().feed(done.stdout)
    assert (kind, decode_hello(data).version) == (Kind.HELLO, __version__)
    libraries = "import netdiag.io.engine.live_deployment, netdiag.io.network.observation, netdiag.io.kernel.inventory"
    assert subprocess.run([built / "bin" / "python", "-c", libraries], check=False).returncode == 0


def test_nothing_is_left_that_built_it(built: Path) -> None:
    held = {path.name for path in (built / "lib").glob("python*/site-packages/*")}
    assert "netdiag" in held
    assert not held & {"pip", "setuptools", "wheel", "hatchling", "build"}


def _context(target: Path) -> list[str]:
    """The files that .dockerignore lets through, copied; links as docker sends them."""
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    assert rules[0] == "*"
    allowed = [rule[1:] for rule in rules if rule.startswith("!")]
    refused = [rule for rule in rules[1:] if not rule.startswith("!")]
    kept = []
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        if name.split("/")[0] in allowed and not any(fnmatch(name, f"*{rule[2:]}*") for rule in refused):
            copy = target / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():
                copy.symlink_to(path.readlink())
            else:
                copy.write_bytes(path.read_bytes())
            kept.append(name)
    return kept
