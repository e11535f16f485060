"""A release is refused as long as anything names another version, no date or no publisher."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from netdiag import __version__, distribution
from tests.house.tree import ROOT

release_check = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "release_check.py")))
TAG = f"v{__version__}"
DIGEST = "sha256:" + "0123456789abcdef" * 4
PAGE = "docs/guides/ci.md"
NAMING = (
    *("netdiag/__init__.py", "netdiag/distribution.py", "native/Cargo.toml", "pyproject.toml", "CHANGELOG.md"),
    *("Dockerfile", "CITATION.cff", PAGE),
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files that name a release, filled in as a publisher does it."""
    for file in NAMING:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    _change(tmp_path, "pyproject.toml", release_check.PLACEHOLDER, "github.com/somebody")
    _change(tmp_path, "CHANGELOG.md", r"(?m)^## [\d.]+ \(.*\)$", f"## {__version__} (2026-01-31)")
    _change(tmp_path, "Dockerfile", r"(?m)^(ARG BASE=[^@\n]+).*$", rf"\g<1>@{DIGEST}")
    _change(tmp_path, "netdiag/distribution.py", r"(?m)^PUBLISHED = \w+$", "PUBLISHED = True")
    release_check.write(tmp_path, TAG)
    return tmp_path


def test_what_is_filled_in_may_be_released(tree: Path) -> None:
    assert list(release_check.problems(tree, TAG)) == []
    page = (tree / PAGE).read_text()
    assert f"- uses: somebody/netdiag@{TAG}\n" in page
    assert f"  - repo: https://github.com/somebody/netdiag\n    rev: {TAG}\n" in page
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format", "CITATION.cff"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("file", "pattern", "instead", "said"),
    [
        ("netdiag/__init__.py", r'__version__ = ".*"', '__version__ = "9.9.9"', "version 9.9.9, but the tag is"),
        ("native/Cargo.toml", r'(?m)^version = ".*"', 'version = "9.9.9-rc.1"', "version 9.9.9rc1, but the tag is"),
        ("CHANGELOG.md", r"\(2026-01-31\)", "(not yet released)", "has no date, but 'not yet released'"),
        ("CHANGELOG.md", r"\(2026-01-31\)", "(9999-01-31)", "which is still to come"),
        ("CHANGELOG.md", rf"## {re.escape(__version__)} ", "## 9.9.9 ", "no section"),
        ("CHANGELOG.md", r"(?s)(\(2026-01-31\)\n).*", r"\1\n## 0.0.1 (2025-01-31)\n\n- x\n", "is empty"),
        (
            "pyproject.toml",
            r"github\.com/somebody/netdiag/issues",
            "OWNER.invalid",
            "project.urls.Issues is a placeholder",
        ),
        (
            "pyproject.toml",
            r"https://github\.com/somebody/netdiag/issues",
            "x",
            "project.urls.Issues is no https address",
        ),
        ("pyproject.toml", r"\nRepository = ", "\nHome = ", "project.urls has no Repository"),
        ("netdiag/distribution.py", "PUBLISHED = True", "PUBLISHED = False", "PUBLISHED is False"),
        ("Dockerfile", f"@{DIGEST}", "", "BASE has no digest"),
        ("Dockerfile", f"@{DIGEST}", "@sha256:12", "BASE has no digest"),
        ("CITATION.cff", r"(?m)^version: .*$", "version: 9.9.9", "does not name"),
        (PAGE, f"netdiag@{TAG}", "netdiag@v9.9.9", "does not name"),
        (PAGE, f"rev: {TAG}", "rev: v9.9.9", "does not name"),
    ],
)
def test_what_disagrees_is_refused(tree: Path, file: str, pattern: str, instead: str, said: str) -> None:
    _change(tree, file, pattern, instead)
    found = [line for line in release_check.problems(tree, TAG) if line.startswith(f"{file}: ") and said in line]
    assert len(found) == 1, list(release_check.problems(tree, TAG))


@pytest.mark.parametrize("tag", ["", "0.1.0", "v0.1", "v0.1.0-rc1", "V0.1.0", "v0.1.0;true"])
def test_a_tag_of_another_form_is_refused(tree: Path, tag: str) -> None:
    assert [line.split(":")[0] for line in release_check.problems(tree, tag)] == [f"tag {tag!r}"]


def test_this_tree_is_refused_until_somebody_publishes_it() -> None:
    """The placeholders are marked, and the check sees each."""
    found = "\n".join(release_check.problems(ROOT, TAG))
    urls = (ROOT / "pyproject.toml").read_text().count(release_check.PLACEHOLDER)
    assert found.count("is a placeholder") == urls
    assert (urls > 0) is not distribution.PUBLISHED


def test_the_notes_are_the_section_of_the_version(tree: Path) -> None:
    (tree / "CHANGELOG.md").write_text(
        "# Changes\n\n## 0.2.0 (2026-02-01)\n\n- new\n\n## 0.1.0 (2026-01-01)\n\n- old\n"
    )
    assert release_check.notes(tree, "v0.2.0") == "- new\n"
    assert release_check.notes(tree, "v0.1.0") == "- old\n"


def test_the_extension_and_the_engine_have_the_version() -> None:
    assert f'"version": "{__version__}"' in (ROOT / "editors" / "vscode" / "package.json").read_text()
    assert __version__ in dict(release_check._versions(ROOT))["native/Cargo.toml"]


@pytest.mark.parametrize(
    ("word", "base", "answer", "status", "told"),
    [
        ("write", "python:3.13-slim", DIGEST, 0, f"python:3.13-slim@{DIGEST}"),
        ("write", f"python:3.13-slim@sha256:{'1' * 64}", DIGEST, 0, f"python:3.13-slim@{DIGEST}"),
        ("write", "python:3.13-slim", "not found", 1, "gives no digest for python:3.13-slim: not found"),
        ("check", "python:3.13-slim", DIGEST, 1, "names python:3.13-slim without a digest"),
        ("check", f"python:3.13-slim@{DIGEST}", DIGEST, 0, ""),
        ("check", f"python:3.13-slim@sha256:{'1' * 64}", DIGEST, 1, "does not have python:3.13-slim@sha256:11"),
    ],
)
def test_the_digest_of_the_base_image(
    tmp_path: Path, word: str, base: str, answer: str, status: int, told: str
) -> None:
    """With a docker that answers `imagetools inspect`: the registry is not to be asked here."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "base-image", tmp_path / ".ci")
    dockerfile = tmp_path / "Dockerfile"
    dockerfile.write_text(f"ARG BASE={base}\nFROM ${{BASE}}\n")
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(f'#!/bin/sh\n[ "$1 $2 $3" = "buildx imagetools inspect" ] && echo "{answer}"\n')
    docker.chmod(0o755)
    done = subprocess.run(
        [tmp_path / ".ci" / "base-image", word],
        env={**os.environ, "PATH": f"{docker.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert told in done.stdout + done.stderr
    first = dockerfile.read_text().splitlines()[0]
    assert first == (f"ARG BASE=python:3.13-slim@{DIGEST}" if (word, status) == ("write", 0) else f"ARG BASE={base}")


def _change(tree: Path, file: str, pattern: str, instead: str) -> None:
    text, count = re.subn(pattern, instead, (tree / file).read_text(encoding="utf-8"))
    assert count, f"{file} has no {pattern}"
    (tree / file).write_text(text, encoding="utf-8")
