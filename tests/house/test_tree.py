"""The shape of the tree: its top, packages, names, sizes of files, and nothing of the machine it was made on."""

import ast
import re
from pathlib import Path

from tests.house.tree import PACKAGE, ROOT, files, modules, name

FILE_BYTES = 5_000_000


OURS = ("netdiag", "tests", "tools")


# Programs that are copied into the lab's images: no package of ours holds them.
COPIED_INTO_IMAGES = ROOT / "tests" / "lab" / "images"


FORBIDDEN_NAMES = {"util", "utils", "common", "helper", "helpers", "base", "misc"}


EXTRAS = {
    "docker",
    "pyroute2",
    "scapy",
    "cryptography",
    "pyspark",
    "py4j",
    "pyarrow",
    "pandas",
    "numpy",
    "networkx",
    "vl_convert",
}


# Written in pieces, so that this file does not hold what it looks for.
REGISTRIES = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("repo1", "maven", "org"),
        ("repo.maven", "apache", "org"),
        ("registry", "npmjs", "org"),
        ("proxy", "golang", "org"),
        ("static", "crates", "io"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
    )
)


MACHINE_PATH = re.compile(r"""(?:^|[\s"'`=(:,])/(?:work|root|home/[a-z_][\w-]*|Users/\w+)/(?!\*)""", re.MULTILINE)


def test_every_folder_of_modules_is_a_package() -> None:
    bare = {
        name(path.parent)
        for path in modules("netdiag", "tests")
        if not path.is_relative_to(COPIED_INTO_IMAGES) and not (path.parent / "__init__.py").exists()
    }
    assert not bare


def test_every_module_says_what_it_is_for() -> None:
    """An empty __init__.py of the tests has nothing to say."""
    silent = [
        name(path)
        for path in modules(*OURS)
        if not ast.get_docstring(ast.parse(_text(path)))
        and not (path.name == "__init__.py" and path.is_relative_to(ROOT / "tests") and not _text(path).strip())
    ]
    assert not silent


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty_names = [
        name(path)
        for path in modules(*OURS)
        if {part.strip("_") for part in path.with_suffix("").relative_to(ROOT).parts} & FORBIDDEN_NAMES
    ]
    assert not empty_names


def test_extras_are_imported_at_the_top_only_where_they_are_the_point() -> None:
    """Anywhere else they would be loaded by a command that does not use them, or be missing from the bare install."""
    found = {
        f"{name(path)}: {root}"
        for path in modules("netdiag")
        if path.relative_to(PACKAGE).parts[0] not in ("io", "traffic", "lsp", "mcp")
        for root in _top_level_imports(path) & EXTRAS
    }
    assert not found


def test_no_file_tells_of_the_machine_it_was_written_on() -> None:
    told = [
        f"{name(path)}: {match.group().strip()}" for path in files() for match in MACHINE_PATH.finditer(_text(path))
    ]
    assert not told


def test_no_file_names_the_host_of_a_package_registry() -> None:
    named = [f"{name(path)}: {host}" for path in files() for host in REGISTRIES if host in _text(path)]
    assert not named


def test_no_file_is_too_large() -> None:
    large = [name(path) for path in files() if path.stat().st_size > FILE_BYTES]
    assert not large


def test_the_checks_see_what_they_look_for() -> None:
    """The patterns above find the thing itself and leave its harmless neighbours alone."""
    for line in ("open('/" + "work/x')", "/" + "root/.cache", 'path = "/' + 'home/me/x"'):
        assert MACHINE_PATH.search(line)
    for line in ("/proc/1/root/etc/hosts", "{root}/work/x", "network/root/x", "/home/*/x", "../work/x"):
        assert not MACHINE_PATH.search(line)


def _text(path: Path) -> str:
    return "" if path.is_symlink() else path.read_bytes().decode("utf-8", errors="replace")


def _top_level_imports(path: Path) -> set[str]:
    roots: set[str] = set()
    for node in ast.parse(_text(path)).body:
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").partition(".")[0])
    return roots


EXPECTED = {
    *(".ci", ".dockerignore", ".github", ".gitignore", ".pre-commit-hooks.yaml"),
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "Dockerfile", "LICENSE", "Makefile", "README.md"),
    "SECURITY.md",
    *("action.yml", "constraints.txt", "mkdocs.yml", "pyproject.toml"),
    *("compose", "docs", "editors", "native", "netdiag", "playbooks", "share", "templates", "tests", "tools"),
}


def test_the_top_holds_what_is_expected_and_nothing_else() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in files()} == EXPECTED
