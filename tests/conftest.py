"""What every test run has: the skip policy, figures, the choice of bars, the mark on tests that need the lab."""

import gc
import re
import signal
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.bars.targets import TARGETS

pytest_plugins = [
    *("pytester", "tests.skips", "tests.figures", "tests.counts", "tests.sharing", "tests.spark"),
    "tests.bars.resumed",
    "tests.lab.fixtures",
]

# A shell in the background hands down that Ctrl-C is ignored, also to the commands that tests end with it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A run of make test is the same every time; `make bars BARS=fuzz` looks for what is new.
settings.register_profile("test", derandomize=True, deadline=None)
settings.register_profile("bars", max_examples=10_000, deadline=None)
settings.load_profile("test")

# The words of which one is in every file with a test of that mark.
MENTIONED = {"lab": "lab|compose_v2|recordings?", "alone": "alone", "hypothesis": "hypothesis"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--bar NAME`: the tests of one bar only, the long ones too."""
    parser.addoption("--bar", choices=[target.name for target in TARGETS], help="run the tests of this bar only")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """For `-m` with lab, alone or hypothesis, import only the files that mention it: most do not."""
    if collection_path.suffix != ".py" or _mentions(collection_path, _asked_for(config)):
        return None
    return True


def _asked_for(config: pytest.Config) -> set[str]:
    """The marks that every chosen test has, for the expressions of tests/stages.py."""
    clauses = (config.getoption("markexpr") or "").split(" and ")
    return {clause for clause in clauses if clause in MENTIONED}


def _mentions(file: Path, marks: set[str]) -> bool:
    text = file.read_text(encoding="utf-8") if marks else ""
    return all(re.search(rf"\b({MENTIONED[mark]})\b", text) for mark in marks)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected lives to the end: looking for garbage in it costs a fifth of the time, and later as well."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every test that uses a fixture of tests/lab, so that `-m lab` needs no care."""
    for item in items:
        if _uses_lab(item):
            item.add_marker("lab")
    _check_mentions(items)
    chosen: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        chosen[_is_chosen(item, config.getoption("--bar"))].append(item)
    config.hook.pytest_deselected(items=chosen[False])
    items[:] = chosen[True]


def _check_mentions(items: list[pytest.Item]) -> None:
    """No file is left out wrongly: this fails in the stage that imports them all."""
    for path, mark in {(item.path, mark) for item in items for mark in MENTIONED if item.get_closest_marker(mark)}:
        if not _mentions(path, {mark}):
            raise pytest.UsageError(f"{path} has a test with the mark {mark!r}: add its word to MENTIONED")


def _is_chosen(item: pytest.Item, bar: str | None) -> bool:
    marks = list(item.iter_markers("bar"))
    for mark in marks:
        if mark.args[0] not in {target.name for target in TARGETS}:
            raise pytest.UsageError(f"{item.nodeid}: tests/bars/targets.py has no bar {mark.args[0]!r}")
    if bar is not None:
        return any(mark.args[0] == bar for mark in marks)
    return not any(mark.kwargs.get("long") for mark in marks)


def _uses_lab(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return False
    definitions = item._fixtureinfo.name2fixturedefs.values()
    return any(used.func.__module__.startswith("tests.lab") for chain in definitions for used in chain)
