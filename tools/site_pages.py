"""Hooks of MkDocs: the site also has pages and files from outside docs, and a list of the rules in its navigation.

README.md is the first page. A link to any other file of the repository, a schema for example, leads to a copy of it.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS = "docs/"
RULES = "rules/README.md"
# Pages of the site that are not in docs: their file in the repository, their name on the site.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "compose/scenarios/README.md": "scenarios.md",
    "compose/scenarios/S18-partition-and-death/README.md": "partition-and-death.md",
}
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)(?P<target>[^)#\s]+)")
_FILE_BLOCK = re.compile(r"^(?P<language>```\w+) (?P<path>\S+)$", re.MULTILINE)
_RULE = re.compile(r"^\| \[([\w.-]+)\]", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put every rule below the entry of the list of rules."""
    nav: list[Any] = config.nav or []
    config.nav = [{title: _rules()} if page == RULES else {title: page} for one in nav for title, page in one.items()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs, and a copy of each file that a page links to."""
    for path, uri in PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    for file in list(files.documentation_pages()):
        for match in _LINK.finditer(file.content_string):
            path = _linked(file, match["target"])
            if files.get_file_from_path(_uri(path)) is None and (ROOT / path).is_file():
                files.append(File.generated(config, _uri(path), abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to where the site has their files; those that lead nowhere stay, for MkDocs to complain about.

    A block that is a file (```toml netdiag.toml) gets the name of the file as its title.
    """

    def on_site(match: re.Match[str]) -> str:
        path = _linked(page.file, match["target"])
        known = files.get_file_from_path(_uri(path)) is not None
        return posixpath.relpath(_uri(path), posixpath.dirname(page.file.src_uri)) if known else match["target"]

    return _FILE_BLOCK.sub(r'\g<language> title="\g<path>"', _LINK.sub(on_site, markdown))


def _linked(file: File, target: str) -> str:
    """The path in the repository of what a page links to."""
    own = next((path for path, uri in PAGES.items() if uri == file.src_uri), DOCS + file.src_uri)
    return posixpath.normpath(posixpath.join(posixpath.dirname(own), target))


def _uri(path: str) -> str:
    """Where the site has a file of the repository."""
    return PAGES.get(path) or (path.removeprefix(DOCS) if path.startswith(DOCS) else f"files/{path}")


def _rules() -> list[dict[str, Any]]:
    """The list of rules, then its sections, each with the pages of its rules."""
    _, *sections = re.split(r"^## ", (ROOT / DOCS / RULES).read_text(encoding="utf-8"), flags=re.MULTILINE)
    pages = ([f"rules/{rule}.md" for rule in _RULE.findall(section)] for section in sections)
    titles = (section.partition("\n")[0] for section in sections)
    return [{"All rules": RULES}, *({title: of_it} for title, of_it in zip(titles, pages, strict=True))]
