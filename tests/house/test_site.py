"""The site builds without a warning, holds every page, and loads nothing from other hosts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT, files


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """MkDocs with warnings as errors, as `make site` runs it."""
    command = ["-m", "mkdocs", "build", "--strict", "--config-file", str(config), "--site-dir", str(site)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run([sys.executable, *command], cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_make_site_builds_it_as_strictly() -> None:
    assert re.search(r"^site: .*\n\t.*mkdocs build --strict$", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from the tree."""
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_on_the_site_and_in_its_navigation(site: Path) -> None:
    """That a page in docs is missing from the navigation is a warning of MkDocs, and so an error here."""
    pages = [path.relative_to(ROOT / "docs") for path in files() if path.is_relative_to(ROOT / "docs")]
    pages = [path.with_suffix("") for path in pages if path.suffix == ".md"]
    assert len(pages) > 100
    folders = [page.parent if page.name == "README" else page for page in pages]
    assert [folder for folder in folders if not (site / folder / "index.html").exists()] == []


def test_a_file_that_a_page_links_to_is_on_the_site(site: Path) -> None:
    schema = "netdiag/render/schema/check-listeners.v1.json"
    assert (site / "files" / schema).read_bytes() == (ROOT / schema).read_bytes()
    assert f'href="../files/{schema}"' in (site / "output" / "index.html").read_text(encoding="utf-8")


def test_a_block_that_is_a_file_has_its_name_as_title(site: Path) -> None:
    assert '<span class="filename">netdiag.toml</span>' in (site / "configuration" / "index.html").read_text("utf-8")


def test_nothing_comes_from_another_host(site: Path) -> None:
    loaded = re.compile(r"<(?:script|img|iframe|link)[^>]*(?:src|href)=\"?((?:https?:)?//[^\s\">]+)")
    assert {url for page in site.rglob("*.html") for url in loaded.findall(page.read_text(encoding="utf-8"))} == set()
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//[^)\"']+", styles) == []


def test_a_lost_page_a_broken_link_and_a_broken_anchor_are_errors(tmp_path: Path) -> None:
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: pages\nhooks: []\nextra_css: []\nnav: [index.md]\n")
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.md").write_text("# One\n\n[no page](gone.md), [no heading](#gone)\n")
    (pages / "lost.md").write_text("# Two\n")
    done = build(config, tmp_path / "site")
    assert done.returncode == 1
    for complaint in ("- lost.md", "'gone.md'", "'#gone'"):
        assert complaint in done.stderr
