"""constraints.txt names a version for whatever pyproject.toml asks for, and for all that this brings along.

.ci/locked has the same versions with the hash of every file, by what is installed together.
"""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.house.tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OPTIONAL = PROJECT["project"]["optional-dependencies"]
GROUPS_OF_TESTS = (PROJECT["dependency-groups"]["test"], PROJECT["dependency-groups"]["build"])


def constraints() -> dict[str, set[Version]]:
    """The versions named for each package: one, or one for each kind of system."""
    named: dict[str, set[Version]] = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        pin = re.fullmatch(r"([\w.-]+)==([\w.]+)( ; .+)?", line)
        assert pin, f"not NAME==VERSION: {line!r}"
        named.setdefault(canonicalize_name(pin[1]), set()).add(Version(pin[2]))
    return named


def asked_for() -> Iterator[Requirement]:
    """All requirements of the project, of its extras and of its groups."""
    project = PROJECT["project"]
    lists = [
        project["dependencies"],
        *project["optional-dependencies"].values(),
        *PROJECT["dependency-groups"].values(),
    ]
    found = (Requirement(text) for one in lists for text in one)
    return (requirement for requirement in found if requirement.name != project["name"])


def brought_along(requirement: Requirement, seen: set[str]) -> Iterator[str]:
    """The packages that are installed here because of a requirement, itself included."""
    name = canonicalize_name(requirement.name)
    key = f"{name}[{','.join(sorted(requirement.extras))}]"
    if key in seen:
        return
    seen.add(key)
    try:
        texts = requires(name) or []
    except PackageNotFoundError:
        return
    yield name
    for text in texts:
        further = Requirement(text)
        chosen = ({"extra": extra} for extra in ("", *requirement.extras))
        if further.marker is None or any(further.marker.evaluate(one) for one in chosen):
            yield from brought_along(further, seen)


def test_every_requirement_has_a_version_that_it_allows() -> None:
    named = constraints()
    wrong = [
        str(requirement)
        for requirement in asked_for()
        if not any(version in requirement.specifier for version in named.get(canonicalize_name(requirement.name), ()))
    ]
    assert wrong == [], "make constraints writes them anew"


def test_what_they_bring_along_has_one_too() -> None:
    seen: set[str] = set()
    along = {name for requirement in asked_for() for name in brought_along(requirement, seen)}
    assert len(along) > 50
    assert along - set(constraints()) == set()


def test_every_group_is_locked() -> None:
    script = (ROOT / ".ci" / "lock").read_text()
    for group in PROJECT["dependency-groups"]:
        assert f"--group {group}" in script


LOCKED = sorted((ROOT / ".ci" / "locked").iterdir())


@pytest.mark.parametrize("file", LOCKED, ids=lambda path: path.stem)
def test_what_is_installed_by_hash_is_what_the_constraints_say(file: Path) -> None:
    """A file of an older run of .ci/lock would install something else than the tests have seen."""
    named = constraints()
    for name, version, hashes in locked(file):
        assert version in named[name], f"{file.name}: make constraints writes it anew"
        assert hashes


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        ("bare", PROJECT["project"]["dependencies"]),
        ("live", [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["live"]]),
        *(
            (group, PROJECT["dependency-groups"][group])
            for group in ("build", "java", "native", "wheels", "release", "installers")
        ),
        ("all", [text for name, texts in OPTIONAL.items() for text in texts if name != "all"]),
        ("test", [text for texts in (*OPTIONAL.values(), *GROUPS_OF_TESTS) for text in texts if "[" not in text]),
    ],
)
def test_what_is_installed_by_hash_is_all_that_is_needed(file: str, wanted: list[str]) -> None:
    here = {name for name, _, _ in locked(ROOT / ".ci" / "locked" / f"{file}.txt")}
    seen: set[str] = set()
    along = {name for text in wanted for name in brought_along(Requirement(text), seen)}
    assert {canonicalize_name(Requirement(text).name) for text in wanted} | along <= here


def test_what_is_locked_is_what_somebody_installs() -> None:
    asking = [ROOT / name for name in ("Makefile", "Dockerfile", "action.yml")]
    asking.append(ROOT / "tests" / "bars" / "release.py")
    asking += [path for folder in (".ci", ".github/workflows") for path in (ROOT / folder).iterdir() if path.is_file()]
    text = "\n".join(path.read_text() for path in asking if path.name != "lock")
    asked = set(re.findall(r"(?:\.ci/locked|\$locked)/(\w+)\.txt", text))
    assert asked == {path.stem for path in LOCKED}


def locked(file: Path) -> Iterator[tuple[str, Version, int]]:
    """The packages of a file: name, version, and how many hashes it has."""
    for line in file.read_text().replace("\\\n", " ").splitlines():
        pin = re.fullmatch(r"([\w.-]+)==([\w.]+)(?: ; [^#]+?)?((?: +--hash=sha256:[0-9a-f]{64})+) *", line)
        assert pin, f"not NAME==VERSION with hashes: {line!r}"
        yield canonicalize_name(pin[1]), Version(pin[2]), pin[3].count("--hash=")
