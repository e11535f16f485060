"""Which files of tests can notice a fault in a file: those that import it, over however many others, nearest first."""

import ast
import re
from collections import deque
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOTS = ("netdiag", "tests")
_WORD = re.compile(r"\w+")


def near_first(tree: Path, changed: Path, offset: int) -> list[Path]:
    """The files of tests in a tree that reach the changed one; for what is no module, those that name it.

    First come those that name the function or class around the offset.
    """
    modules, importers = _importers(tree)
    if changed.suffix != ".py":
        word = changed.name
        return [path for path in modules.values() if _is_test(path) and word in path.read_text(encoding="utf-8")]
    begin = _dotted(tree, changed)
    distance = {begin: 0}
    ahead = deque([begin])
    while ahead:
        here = ahead.popleft()
        for importer in sorted(importers[here] - distance.keys()):
            distance[importer] = distance[here] + 1
            ahead.append(importer)
    found = [name for name in distance if _is_test(modules[name])]
    names = _around(changed, offset)

    def key(name: str) -> tuple[object, ...]:
        mentioned = set(_WORD.findall(modules[name].read_text(encoding="utf-8")))
        named, apart = _apart(begin, name)
        return not named, not names & mentioned, distance[name], apart, name

    return [modules[name] for name in sorted(found, key=key)]


@cache
def _importers(tree: Path) -> tuple[dict[str, Path], dict[str, set[str]]]:
    """The modules of a tree, and who imports each of them."""
    modules = {_dotted(tree, path): path for root in ROOTS for path in sorted((tree / root).rglob("*.py"))}
    importers: dict[str, set[str]] = {name: set() for name in modules}
    for name, path in modules.items():
        for imported in _imported(path, name, modules):
            importers[imported].add(name)
    return modules, importers


def _is_test(path: Path) -> bool:
    return path.name.startswith("test_")


def _dotted(tree: Path, path: Path) -> str:
    return ".".join(path.relative_to(tree).with_suffix("").parts).removesuffix(".__init__")


def _apart(module: str, test: str) -> tuple[bool, int]:
    """Whether the tests bear its name; how far their folder is from where its own are, which are called alike."""
    *room, name = module.split(".")[1:] or [module]
    folders = test.split(".")[1:-1]
    together = [one for one, other in zip(room, folders, strict=False) if one == other]
    return test.endswith(f".test_{name}"), len(room) + len(folders) - 2 * len(together)


def _around(path: Path, offset: int) -> set[str]:
    """The public names of what is defined there: a class, its method, a function, a constant."""
    text = path.read_text(encoding="utf-8")
    line = text.count("\n", 0, offset) + 1
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
            found.add(node.name)
        elif isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or 0):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {name for name in found if not name.startswith("_")}


def _imported(path: Path, name: str, modules: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            wanted = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (each for each in wanted if each in modules and each != name)
