"""What is published: the same sources give the same bytes, and the sdist gives the wheel of the tree."""

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from netdiag import __version__
from tests.house.examples import copy_of_repository
from tests.house.tree import ROOT, files

DEBIAN_BILL = ROOT / "tools" / "debian_bill.py"
VENV = Path(sys.executable).parents[1]
SDIST, WHEEL = f"netdiag_kafka-{__version__}.tar.gz", f"netdiag_kafka-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is built in a copy of the tree elsewhere: the sdist, and from it the wheel."""
    tree = tmp_path_factory.mktemp("elsewhere") / "another" / "folder"
    tree.mkdir(parents=True)
    copy_of_repository(tree)
    _build(tree, tree / "dist", "--sdist", "--wheel")
    return tree / "dist"


def test_the_wheel_of_the_sdist_is_that_of_the_tree(dist: Path, wheel: Path) -> None:
    assert (dist / WHEEL).read_bytes() == wheel.read_bytes()


def test_the_sdist_is_the_same_wherever_it_is_built(dist: Path, tmp_path: Path) -> None:
    _build(ROOT, tmp_path, "--sdist")
    assert (dist / SDIST).read_bytes() == (tmp_path / SDIST).read_bytes()


def test_the_sdist_holds_what_the_wheel_is_made_of(dist: Path) -> None:
    with tarfile.open(dist / SDIST) as archive:
        held = {member.name.partition("/")[2] for member in archive}
    folders = ("netdiag", "compose", "playbooks", "share")
    names = {path.relative_to(ROOT) for path in files() if not path.is_symlink()}
    ours = {name.as_posix() for name in names if name.parts[0] in folders}
    assert held == ours | {"PKG-INFO", "LICENSE", "README.md", "pyproject.toml", ".gitignore"}


def test_the_index_takes_them(dist: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("PASSED") == 2


def test_a_bill_of_materials_with_packages_of_debian_is_valid(tmp_path: Path) -> None:
    bill = tmp_path / "image.cdx.json"
    locked = ROOT / ".ci" / "locked" / "live.txt"
    words = ["requirements", "--mc-type", "application", "--output-reproducible", "--pyproject", "pyproject.toml"]
    subprocess.run(
        [sys.executable, "-m", "cyclonedx_py", *words, "-o", bill, locked],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    done = _with_debian(bill, "libc6 2.36-9+deb12u13 amd64\ngcc-12-base 12.2.0-14 amd64\n")
    assert done.returncode == 0, done.stderr
    text = bill.read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    read = json.loads(text)
    found = {component["name"]: component["purl"] for component in read["components"]}
    assert found["libc6"] == "pkg:deb/debian/libc6@2.36-9%2Bdeb12u13?arch=amd64"
    assert found["typer"].startswith("pkg:pypi/typer@")
    assert read["metadata"]["component"]["name"] == "netdiag-kafka"
    assert "pytest" not in found


def test_a_bill_without_packages_is_refused(tmp_path: Path) -> None:
    bill = tmp_path / "image.cdx.json"
    bill.write_text("{}")
    done = _with_debian(bill, "")
    assert (done.returncode, done.stderr) == (1, "no package of Debian was listed\n")
    assert bill.read_text() == "{}"


def _with_debian(bill: Path, listed: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, DEBIAN_BILL, bill], input=listed, capture_output=True, text=True, check=False
    )


def _build(tree: Path, folder: Path, *what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", folder, tree],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
