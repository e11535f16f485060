"""Whether this tree may be released under a tag: everything names one version, one date and one publisher.

`python tools/release_check.py v0.1.0` lists what is wrong, a line each, and exits with 1. `--write` puts the date,
the publisher and the tag into the files that repeat them; `--notes` prints the section of CHANGELOG.md. Needs Python
alone. The publisher stands in pyproject.toml, in `project.urls`; until an owner fills it in, nothing is released.
"""

import argparse
import re
import runpy
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACEHOLDER = "OWNER.invalid"
"""What stands in `project.urls` for the publisher."""
COPIED = "docs/guides/ci.md"
"""The page with the lines that users copy into their repositories."""
_TAG = re.compile(r"v(\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)")
_SECTION = re.compile(r"^## (\S+) \(([^)\n]*)\)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What a release is called, when it was made, and where its sources are."""

    version: str
    date: str
    repository: str

    @property
    def tag(self) -> str:
        """As git names it."""
        return f"v{self.version}"


def release_of(root: Path, version: str) -> Release:
    """The date from CHANGELOG.md and the repository from pyproject.toml; empty where there is none."""
    return Release(version=version, date=_section(root, version)[0], repository=_urls(root).get("Repository", ""))


def problems(root: Path, tag: str) -> Iterator[str]:
    """What keeps the tree from being released under this tag, a line each."""
    matched = _TAG.fullmatch(tag)
    if matched is None:
        yield f"tag {tag!r}: not v and a version, as v1.2.3 or v1.2.3rc1"
        return
    release = release_of(root, matched[1])
    for file, found in _versions(root):
        if found != release.version:
            yield f"{file}: version {found}, but the tag is {tag}"
    yield from _of_changes(root, release)
    yield from _of_publisher(root)
    if not runpy.run_path(str(root / "netdiag" / "distribution.py"))["PUBLISHED"]:
        yield "netdiag/distribution.py: PUBLISHED is False: the texts still say that the package is not on the index"
    if not re.search(r"^ARG BASE=\S+@sha256:[0-9a-f]{64}$", (root / "Dockerfile").read_text(), re.MULTILINE):
        yield "Dockerfile: BASE has no digest: run .ci/base-image write"
    for file, text in _written(root, release):
        if (root / file).read_text(encoding="utf-8") != text:
            yield f"{file}: does not name {tag}, its date or its repository: run tools/release_check.py --write {tag}"


def notes(root: Path, tag: str) -> str:
    """What CHANGELOG.md says about a version."""
    return _section(root, tag.removeprefix("v"))[1].strip() + "\n"


def write(root: Path, tag: str) -> None:
    """Put what the release is called into the files that repeat it."""
    for file, text in _written(root, release_of(root, tag.removeprefix("v"))):
        (root / file).write_text(text, encoding="utf-8")


def _versions(root: Path) -> Iterator[tuple[str, str]]:
    yield "netdiag/__init__.py", runpy.run_path(str(root / "netdiag" / "__init__.py"))["__version__"]
    manifest = tomllib.loads((root / "native" / "Cargo.toml").read_text())
    yield "native/Cargo.toml", _as_python(manifest["workspace"]["package"]["version"])


def _as_python(version: str) -> str:
    """A version of Cargo, as 1.2.3-rc.1, in Python's form."""
    return re.sub(r"-(a|b|rc)\.", r"\1", version.replace("-alpha.", "-a.").replace("-beta.", "-b."))


def _of_changes(root: Path, release: Release) -> Iterator[str]:
    text = notes(root, release.tag)
    if not release.date:
        yield f"CHANGELOG.md: no section '## {release.version} (YYYY-MM-DD)'"
        return
    try:
        is_past = date.fromisoformat(release.date) <= date.today()
    except ValueError:
        yield f"CHANGELOG.md: {release.version} has no date, but {release.date!r}"
        return
    if not is_past:
        yield f"CHANGELOG.md: {release.version} is of {release.date}, which is still to come"
    if not text.strip():
        yield f"CHANGELOG.md: the section {release.version} is empty"


def _of_publisher(root: Path) -> Iterator[str]:
    urls = _urls(root)
    if "Repository" not in urls:
        yield "pyproject.toml: project.urls has no Repository"
    for name, url in urls.items():
        if PLACEHOLDER in url:
            yield f"pyproject.toml: project.urls.{name} is a placeholder: {url}"
        elif not url.startswith("https://"):
            yield f"pyproject.toml: project.urls.{name} is no https address: {url}"


def _written(root: Path, release: Release) -> Iterator[tuple[str, str]]:
    """The files that repeat what a release is called, as they have to be."""
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    lines = [line for line in citation.splitlines() if not re.match(r"(version|date-released|repository-code):", line)]
    lines += [f"version: {release.version}", f'date-released: "{release.date}"']
    lines += [f"repository-code: {release.repository}"]
    yield "CITATION.cff", "\n".join(lines) + "\n"

    page = (root / COPIED).read_text(encoding="utf-8")
    place = release.repository.removeprefix("https://github.com/")
    page = re.sub(r"(?m)^(- uses: )\S+/netdiag@\S+$", rf"\g<1>{place}@{release.tag}", page)
    page = re.sub(r"(?m)^(  - repo: ).*$", rf"\g<1>{release.repository}", page)
    yield COPIED, re.sub(r"(?m)^(    rev: ).*$", rf"\g<1>{release.tag}", page)


def _section(root: Path, version: str) -> tuple[str, str]:
    """What stands in brackets behind a version in CHANGELOG.md, and what stands below it."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    return next(((found[2], found[3]) for found in _SECTION.finditer(text) if found[1] == version), ("", ""))


def _urls(root: Path) -> dict[str, str]:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    urls: dict[str, str] = project.get("urls", {})
    return urls


def main(arguments: list[str]) -> int:
    """0 when it may be released."""
    parser = argparse.ArgumentParser(prog="tools/release_check.py", description=__doc__)
    parser.add_argument("tag", help="as git names it: v1.2.3")
    parser.add_argument("--write", action="store_true", help="write tag, date and publisher where they are repeated")
    parser.add_argument("--notes", action="store_true", help="print what CHANGELOG.md says about the version")
    options = parser.parse_args(arguments)
    if options.notes:
        print(notes(ROOT, options.tag), end="")
        return 0
    if options.write:
        write(ROOT, options.tag)
    found = list(problems(ROOT, options.tag))
    print("\n".join(found) if found else f"{options.tag} may be released")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
