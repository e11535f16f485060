"""A defect fails both times, an unsteady test is named, and a heap of failures is not tried again."""

import os
import sys
from pathlib import Path

import pytest

from tests.second_try import MOST, Tried, in_one_process, run_pytest

STEADY = "def test_steady():\n    pass\n"
DEFECT = "def test_defect():\n    raise AssertionError\n"
# Fails while its mark is absent, and leaves it.
UNSTEADY = """
import pathlib

def test_unsteady():
    mark = pathlib.Path(__file__).with_suffix(".mark")
    seen = mark.exists()
    mark.touch()
    assert seen
"""


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ((STEADY,), Tried(status=0)),
        ((STEADY, DEFECT), Tried(status=1)),
        ((STEADY, UNSTEADY), Tried(status=0, unsteady=("test_1.py::test_unsteady",))),
        ((UNSTEADY, DEFECT), Tried(status=1)),
        ((UNSTEADY,) * (MOST + 1), Tried(status=1)),
        (("import nothing_of_this_name\n",), Tried(status=2)),
    ],
    ids=["green", "defect", "unsteady", "both", "too-many", "not-collected"],
)
def test_only_what_passes_alone_is_forgiven(tmp_path: Path, sources: tuple[str, ...], expected: Tried) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    for number, source in enumerate(sources):
        (tmp_path / f"test_{number}.py").write_text(source)
    command = (sys.executable, "-m", "pytest", "-q")
    tried = run_pytest(command, tree=tmp_path, environment=_own(), memory=tmp_path / "memory")
    assert tried == expected


def test_the_second_try_is_made_in_one_process() -> None:
    spread = ("pytest", "-q", "-n", "auto", "--maxprocesses", "4", "-m", "not lab")
    assert in_one_process(spread) == ("pytest", "-q", "-m", "not lab")


def _own() -> dict[str, str]:
    """The environment without what the run around this test says to pytest, and without plugins, slow to import."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return {**inherited, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
