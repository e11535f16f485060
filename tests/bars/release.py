"""Bar: what a release builds, twice in different folders, and its wheels with every Python of this machine."""

import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from netdiag import __version__
from tests.bars.measuring import report
from tests.house.tree import ROOT

INSTALL_LIMIT = 10.0
ROUNDS = 3
OLDEST = (3, 11)
NEEDLESS = ("cc", "gcc", "clang", "cargo", "rustc", "java", "docker", "podman")
SCENARIO = ROOT / "compose" / "scenarios" / "S02-inter-broker-loopback"
WHEEL = f"netdiag_kafka-{__version__}-py3-none-any.whl"


def main() -> int:
    """0 when everything is the same twice, and works everywhere."""
    with TemporaryDirectory() as folder:
        scratch = Path(folder)
        tools = scratch / "tools"
        subprocess.run([sys.executable, "-m", "venv", tools], check=True)
        built = [_built(scratch / place, tools) for place in ("one", "another/folder/deeper")]
        pip = (tools / "bin" / "pip", "install", "--quiet", "--require-hashes", "--requirement")
        subprocess.run([*pip, ".ci/locked/installers.txt"], cwd=ROOT, check=True)
        good = [
            _same(*built),
            _isolated(built[0], scratch / "isolated"),
            _engine_of_sdist(tools, built[0], scratch / "engine"),
            *[_tried(python, version, built[0], scratch) for version, python in _pythons(tools)],
            *_runners(tools, built[0] / WHEEL, scratch),
        ]
    return 0 if all(good) else 1


def _built(tree: Path, tools: Path) -> Path:
    """What the scripts of the release make of a clone of this tree, in its folder `dist`."""
    subprocess.run(["git", "clone", "--quiet", ROOT, tree], check=True)
    for script in ("dist", "wheels"):
        began = time.monotonic()
        subprocess.run([tree / ".ci" / script, tools, tree / "dist"], check=True)
        report(f".ci/{script} in {'/'.join(tree.parts[3:])}", round(time.monotonic() - began, 1), "s")
    return tree / "dist"


def _same(one: Path, other: Path) -> bool:
    hashes = [{path.name: _hash(path) for path in sorted(folder.iterdir())} for folder in (one, other)]
    for name in hashes[0].keys() | hashes[1].keys():
        first, second = (found.get(name) for found in hashes)
        report(name, f"{first} twice" if first == second else f"{first} and {second}")
    return hashes[0] == hashes[1] and len(hashes[0]) >= 4


def _isolated(built: Path, folder: Path) -> bool:
    """As others build it: with a build backend of their own."""
    environ = {**os.environ, "PIP_CONSTRAINT": str(ROOT / "constraints.txt")}
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], env=environ, check=True)
    is_same = all(_hash(path) == _hash(built / path.name) for path in folder.iterdir())
    report("python -m build, isolated", "the same bytes" if is_same else "other bytes")
    return is_same


def _engine_of_sdist(tools: Path, built: Path, folder: Path) -> bool:
    """The source archive of the engine gives an engine: built for speed of building, and imported."""
    with tarfile.open(built / f"netdiag_kafka_native-{__version__}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    words = ("build", "--profile", "quick", "--compatibility", "linux", "--out", tree / "dist")
    subprocess.run([tools / "bin" / "maturin", *words], cwd=tree, check=True)
    (wheel,) = (tree / "dist").iterdir()
    subprocess.run([tools / "bin" / "pip", "install", "--quiet", "--no-deps", wheel], check=True)

    python = (tools / "bin" / "python", "-c", "import netdiag_native")
    is_good = subprocess.run(python, cwd=folder, check=False).returncode == 0
    report("the engine, built from its sdist", "can be imported" if is_good else "cannot be imported")
    return is_good


def _pythons(tools: Path) -> Iterator[tuple[str, Path]]:
    """Every CPython that uv finds on this machine, by version; those of pyenv by their folders, not by its shims."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders = [*map(str, sorted(pyenv.glob("versions/*/bin"))), *os.environ["PATH"].split(os.pathsep)]
    searched = os.pathsep.join(folder for folder in folders if Path(folder) != pyenv / "shims")
    listed = subprocess.run(
        [tools / "bin" / "uv", "python", "list", "--only-installed", "--offline", "--output-format", "json"],
        env={**os.environ, "PATH": searched},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found: dict[str, Path] = {}
    for one in json.loads(listed):
        parts = one["version_parts"]
        path = Path(one["path"])
        is_new_enough = one["implementation"] == "cpython" and (parts["major"], parts["minor"]) >= OLDEST
        # That of an environment leads to one that is listed, too.
        if is_new_enough and not (path.parent.parent / "pyvenv.cfg").exists():
            found.setdefault(one["version"], path)
    yield from found.items()


def _tried(python: Path, version: str, built: Path, scratch: Path) -> bool:
    """The bare wheel alone, timed; a lint with nothing in PATH; then all wheels, by the script of the release."""
    environment, nothing = scratch / f"bare-{version}", scratch / "nothing"
    nothing.mkdir(exist_ok=True)
    seconds = statistics.median(_installing(python, built / WHEEL, environment) for _ in range(ROUNDS))
    report(f"pip install of the bare wheel, Python {version}", round(seconds, 1), "s")
    assert not [name for name in NEEDLESS if shutil.which(name, path=str(nothing))]
    statuses = [
        subprocess.run(
            [environment / "bin" / "netdiag", "check-listeners", SCENARIO / f"kraft.{twin}.yml"],
            cwd=nothing,
            env=_clean({"PATH": str(nothing)}),
            stdout=subprocess.DEVNULL,
            check=False,
        ).returncode
        for twin in ("broken", "repaired")
    ]
    whole = subprocess.run(
        [ROOT / ".ci" / "try", python, built], env=_clean({}), stdout=subprocess.DEVNULL, check=False
    )
    works = statuses == [1, 0] and whole.returncode == 0
    report(f"lint, and a capture read, Python {version}", "works" if works else f"{statuses}, {whole.returncode}")
    return works and seconds <= INSTALL_LIMIT


def _installing(python: Path, wheel: Path, environment: Path) -> float:
    """Seconds, without those that the environment takes."""
    subprocess.run([python, "-m", "venv", "--clear", environment], check=True)
    words = ("-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel)
    began = time.monotonic()
    subprocess.run([environment / "bin" / "python", *words], env=_clean({}), check=True)
    return time.monotonic() - began


def _runners(tools: Path, wheel: Path, scratch: Path) -> Iterator[bool]:
    homes = {"PIPX_HOME": str(scratch / "pipx"), "UV_TOOL_DIR": str(scratch / "uv"), "PIP_NO_INPUT": "1"}
    file = SCENARIO / "kraft.repaired.yml"
    for name, words in (
        ("pipx", ("pipx", "run", "--spec", wheel, "netdiag", "check-listeners", file)),
        ("uvx", ("uvx", "--from", wheel, "netdiag", "check-listeners", file)),
    ):
        done = subprocess.run(
            [tools / "bin" / words[0], *words[1:]], env=_clean(homes), stdout=subprocess.DEVNULL, check=False
        )
        report(f"{name} with the wheel", "works" if done.returncode == 0 else f"exit {done.returncode}")
        yield done.returncode == 0


def _clean(more: Mapping[str, str]) -> dict[str, str]:
    """This environment without anything of the run around it."""
    foreign = ("PYTHON", "VIRTUAL_ENV", "NETDIAG_", "PYENV_VERSION")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    return {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **more}


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
