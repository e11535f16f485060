"""The shape of the tree: sizes, names, mirrors, and nothing of the machine it was made on."""

import ast
import re
from pathlib import Path

from tests.house.tree import PACKAGE, ROOT, files, functions, modules, name

MODULE_LINES = 400
FUNCTION_LINES = 60
FILE_BYTES = 5_000_000
OURS = ("netdiag", "tests", "tools")
# Programs that are copied into the lab's images: no package of ours holds them.
COPIED_INTO_IMAGES = ROOT / "tests" / "lab" / "images"
FORBIDDEN_NAMES = {"util", "utils", "common", "helper", "helpers", "base", "misc"}
EXTRAS = {
    "docker",
    "pyroute2",
    "scapy",
    "dns",
    "cryptography",
    "pyspark",
    "py4j",
    "pyarrow",
    "pandas",
    "numba",
    "numpy",
    "zstandard",
    "networkx",
    "vl_convert",
}

# A rule is tested by the examples in its own docstring, all rules by one test: two files make a rule, not three.
EXECUTED_DOCSTRINGS = ("rules/compose", "rules/declared", "rules/observed", "rules/topology", "rules/wire")
EXAMPLES_TEST = "tests/rules/test_examples.py"

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


def test_no_module_is_too_long() -> None:
    long = {name(path): lines for path in modules(*OURS) if (lines := len(_text(path).splitlines())) > MODULE_LINES}
    assert not long


def test_no_function_is_too_long() -> None:
    long = {
        f"{name(path)}:{node.lineno} {node.name}": lines
        for path in modules(*OURS)
        for node in functions(path)
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    }
    assert not long


def test_every_module_has_its_test_file() -> None:
    without = [name(path) for path in modules("netdiag") if _has_code(path) and not _mirror(path).exists()]
    assert not without


def test_every_module_says_what_it_is_for() -> None:
    """An empty __init__.py of the tests has nothing to say: the folder is called as the one that it mirrors."""
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


def test_extras_are_imported_at_the_top_only_in_io_and_traffic() -> None:
    """Anywhere else they would be loaded by a command that does not use them, or be missing from the bare install."""
    found = {
        f"{name(path)}: {root}"
        for path in modules("netdiag")
        if path.relative_to(PACKAGE).parts[0] not in ("io", "traffic")
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


def _has_code(path: Path) -> bool:
    """Whether there is more in the module than a docstring, names passed on and assignments such as the version."""
    if any(path.relative_to(PACKAGE).as_posix().startswith(folder + "/") for folder in EXECUTED_DOCSTRINGS):
        assert (ROOT / EXAMPLES_TEST).exists(), f"{EXAMPLES_TEST} executes the docstrings of rules"
        return False
    body = ast.parse(_text(path)).body
    idle = ast.Expr | ast.Assign | ast.AnnAssign
    passed_on = ast.Import | ast.ImportFrom if path.name == "__init__.py" else ast.Expr
    return any(not isinstance(node, idle | passed_on) for node in body)


def _mirror(path: Path) -> Path:
    inside = path.relative_to(PACKAGE)
    if inside.name == "__init__.py":
        inside = inside.parent.with_suffix(".py")
    return ROOT / "tests" / inside.parent / f"test_{inside.stem.strip('_')}.py"


def _top_level_imports(path: Path) -> set[str]:
    roots: set[str] = set()
    for node in ast.parse(_text(path)).body:
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").partition(".")[0])
    return roots
