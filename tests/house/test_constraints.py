"""constraints.txt names a version for whatever pyproject.toml asks for, and for all that this brings along."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.house.tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


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


def test_every_group_is_installed_by_make_or_when_it_is_needed() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for group in PROJECT["dependency-groups"]:
        assert f"--group {group}" in makefile + (ROOT / ".ci" / "java").read_text()
    extras = re.search(r"^EXTRAS := ([\w,]+)$", makefile, re.MULTILINE)
    assert extras is not None
    assert {*extras[1].split(","), "all"} == set(PROJECT["project"]["optional-dependencies"])
