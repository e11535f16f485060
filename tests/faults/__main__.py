"""`python -m tests.faults [--commit COMMIT]`: makes one fault after another; which test of that commit sees it?

Each fault is made in a clone. Of `make test` without the lab, the files that reach the fault (those that import it,
over however many others) run, the seventeen nearest, up to the first failure; for a fault in native/ the tests of its
crates.
What is known of a commit is kept: stopped and started again, it goes on where it was; at another commit the test that
saw a fault before runs first. Exit 0: each fault was seen.
"""

import argparse
import ast
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import cache_from_source
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bars.measuring import report
from tests.faults.faults import FAULTS, Fault
from tests.house.tree import ROOT

ROOTS = ("netdiag", "tests")
# So many imports or folders a test is nearer that names what is wrong.
_MENTIONED = 2
_WORD = re.compile(r"\w+")


def places(fault: Fault, tree: Path) -> list[Path]:
    """The files of a tree in which the text of a fault stands, each as often as it does; one, where it can be made."""
    found = []
    for path in sorted((tree / fault.folder).rglob("*")):
        if path.suffix in (".py", ".json", ".rs"):
            found += [path] * path.read_text(encoding="utf-8").count(fault.old)
    return found


def near_first(tree: Path, changed: Path, offset: int) -> list[Path]:
    """The files of tests in a tree that reach the changed one; for what is no module, those that name it.

    Near are those that import it over few others, that lie where its own tests are, and that name the function or class
    around the offset, or the rule that the module is.
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
    names, rule = _around(changed, offset), changed.stem.replace("_", "-")

    def key(name: str) -> tuple[object, ...]:
        text = modules[name].read_text(encoding="utf-8")
        mentions = bool(names.intersection(_WORD.findall(text))) or ("-" in rule and rule in text)
        named, apart = _apart(begin, name)
        return not named, distance[name] + apart - _MENTIONED * mentions, name

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


KEPT = ROOT / ".cache" / "faults"
# What cargo keeps, beside what is known.
TARGET = ROOT / ".cache" / "faults-target"
# So many files at a time, and no more: what those do not see has no test of its own.
PORTIONS = (1, 4, 12)
_TESTS_FAILED = 1
# Seconds of processor for a file of tests: a fault may keep one from ending.
_MOST_CPU = 150
_CARGO_FAILED = 101


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a fault: `seen_by` is the test that failed, `wrong` why it could not be made."""

    seen_by: str = ""
    wrong: str = ""

    @property
    def text(self) -> str:
        """In a line."""
        return self.wrong or (f"seen by {self.seen_by}" if self.seen_by else "NOT SEEN")


def main(arguments: Sequence[str]) -> int:
    """0 when every fault was made and seen."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--commit", default="HEAD", help="whose product and tests")
    parser.add_argument("--part", default="0/1", metavar="N/M", help="each M-th fault only, from number N on")
    asked = parser.parse_args(arguments)
    first, step = map(int, asked.part.split("/"))
    commit = _git("rev-parse", "--short=10", asked.commit).strip()
    known, seen = _known(commit), {key: one.seen_by for key, one in _known("*").items() if one.seen_by}
    results: list[Result] = []
    with TemporaryDirectory() as folder:
        clone = Path(folder) / "netdiag"
        _git("clone", "--quiet", str(ROOT), str(clone))
        _git("-C", str(clone), "checkout", "--quiet", commit)
        for fault in FAULTS[first::step]:
            key = _key(fault)
            if key not in known:
                began = time.monotonic()
                known[key] = _result(fault, clone, seen.get(key, ""))
                _keep(commit, key, known[key])
                print(f"{fault.folder}: {known[key].text} ({time.monotonic() - began:.0f} s)", flush=True)
            results.append(known[key])
    report("faults", len(results))
    report("faults that a test sees", sum(bool(one.seen_by) for one in results))
    for fault, result in zip(FAULTS[first::step], results, strict=True):
        if not result.seen_by:
            print(f"{fault.folder}: {fault.old.strip()!r} -> {fault.new.strip()!r}: {result.text}")
    return 0 if all(result.seen_by for result in results) else 1


def _result(fault: Fault, tree: Path, before: str) -> Result:
    """Make the fault in a clone, look who sees it, first the test that did `before`, take it back."""
    found = places(fault, tree)
    if len(found) != 1:
        return Result(wrong=f"its text stands in {len(found)} places")
    (place,) = found
    right = place.read_text(encoding="utf-8")
    _write(place, right.replace(fault.old, fault.new))
    try:
        return _of_crates(tree) if place.suffix == ".rs" else _of_tests(tree, place, right.index(fault.old), before)
    finally:
        _write(place, right)


def _write(place: Path, text: str) -> None:
    """And drop its bytecode: Python takes it for that of the new text where size and second are the same."""
    place.write_text(text, encoding="utf-8")
    Path(cache_from_source(place)).unlink(missing_ok=True)


def _of_tests(tree: Path, changed: Path, offset: int, before: str) -> Result:
    test = before.partition("[")[0].partition(" ")[0]
    if (tree / test.partition("::")[0]).is_file() and (result := _run(tree, [test])).seen_by:
        return result
    files = iter(near_first(tree, changed, offset))
    for size in PORTIONS:
        portion = [str(path.relative_to(tree)) for path in islice(files, size)]
        if not portion:
            break
        result = _run(tree, portion)
        if result != Result():
            return result
    return Result()


def _run(tree: Path, tests: Sequence[str]) -> Result:
    words = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not lab and not alone", "--tb=no")
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**inherited, "PYTHONPATH": str(tree)}
    most = _MOST_CPU * len(tests)
    done = subprocess.run(
        [sys.executable, *words, *tests],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)),
    )
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return Result(seen_by=f"{tests[0]} (does not end)")
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if done.returncode == _TESTS_FAILED and failed:
        return Result(seen_by=failed[0].split()[1])
    # 5: none of these is in that stage
    if done.returncode not in (0, 5):
        return Result(wrong=f"pytest: exit {done.returncode}: {' '.join(failed)[:300]}")
    return Result()


def _of_crates(tree: Path) -> Result:
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET)}
    words = ("test", "--locked", "--workspace", "--quiet")
    done = subprocess.run(
        ["cargo", *words], cwd=tree / "native", env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return Result()
    failed = [line for line in done.stdout.splitlines() if line.endswith(" panicked at") or line.startswith("    ")]
    if done.returncode != _CARGO_FAILED or "test result: FAILED" not in done.stdout:
        return Result(wrong=f"cargo: exit {done.returncode}: {done.stderr[-300:]}")
    return Result(seen_by=failed[-1].strip() if failed else "cargo test")


def _key(fault: Fault) -> str:
    return hashlib.sha256("\0".join((fault.folder, fault.old, fault.new)).encode()).hexdigest()[:16]


def _known(commit: str) -> dict[str, Result]:
    found = {}
    for path in KEPT.glob(f"{commit}/*.json"):
        found[path.stem] = Result(**json.loads(path.read_text(encoding="utf-8")))
    return found


def _keep(commit: str, key: str, result: Result) -> None:
    path = KEPT / commit / f"{key}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"seen_by": result.seen_by, "wrong": result.wrong}), encoding="utf-8")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
