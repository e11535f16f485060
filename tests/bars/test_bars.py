"""The driver of `make bars`: what it records, what it skips when resumed, what the page keeps."""

import json
import sys
from pathlib import Path

import pytest

from tests.bars import __main__ as driver
from tests.bars import record
from tests.bars.page import render
from tests.bars.record import Record
from tests.bars.targets import TARGETS, Target
from tests.house.tree import ROOT

WRITES = """
import json, os, sys
line = json.dumps({"name": "cells compared", "value": 132, "unit": "", "test": "t"})
open(os.environ["NETDIAG_FIGURES"], "a").write(line + "\\n")
open("COUNT", "a").write("x")
"""
FAST = Target(name="fast", promise="quick | right", command=(sys.executable, "-c", "pass"))
FAILS = Target(name="fails", promise="never", command=(sys.executable, "-c", "raise SystemExit(3)"))
UNCLAIMED = Target(
    name="cells",
    promise="p",
    command=(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "no_such_test", "tests/bars"),
)


@pytest.fixture
def count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Records and page in an empty folder, three targets; the file grows by a byte whenever `counted` runs."""
    monkeypatch.setattr(record, "RECORDS", tmp_path / "records")
    monkeypatch.setattr(record, "PAGE", tmp_path / "bars.md")
    monkeypatch.setattr(record, "present_commit", lambda: "abc")
    counted = tmp_path / "count"
    program = WRITES.replace("COUNT", str(counted))
    targets = (Target(name="counted", promise="all", command=(sys.executable, "-c", program)), FAST, FAILS)
    monkeypatch.setattr(driver, "TARGETS", targets)
    return counted


def test_a_bar_is_measured_once_per_commit(count: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert driver.main(["counted"]) == 0
    assert driver.main(["counted"]) == 0
    assert count.read_text() == "x"
    assert driver.main(["counted", "--again"]) == 0
    monkeypatch.setattr(record, "present_commit", lambda: "abd")
    assert driver.main(["counted"]) == 0
    assert count.read_text() == "xxx"


def test_a_failed_bar_fails_the_run_and_is_measured_again(count: Path) -> None:
    assert driver.main([]) == 1
    assert {one.name: one.verdict for one in record.records()} == {"counted": "met", "fast": "met", "fails": "FAILED"}
    assert driver.main([]) == 1
    assert driver.main(["fast"]) == 0
    assert count.read_text() == "x"


def test_the_page_shows_figure_date_and_commit(count: Path) -> None:
    driver.main(["counted"])
    page = record.PAGE.read_text()
    assert "| `counted` | all | cells compared: 132 | met |" in page
    assert page.splitlines()[6].endswith("| abc |")
    assert "| `fast` | quick \\| right | | not measured | | | |" in page


def test_a_bar_without_a_test_is_told_apart_from_one_that_is_met() -> None:
    assert driver.measure(UNCLAIMED, "abc").verdict == "no test yet"


def test_a_row_measured_elsewhere_is_kept() -> None:
    present = "| `fast` | quick | 3 s | met | 1 s | 2026-01-01T00:00Z | abc |\n"
    one = Record(
        name="fails", commit="abd", date="2026-01-02T00:00Z", verdict="FAILED", seconds=2.4, figures=("a", "b")
    )
    page = render((FAST, FAILS), {"fails": one}, present)
    assert present in page
    assert "| `fails` | never | a<br>b | FAILED | 2 s | 2026-01-02T00:00Z | abd |" in page


def test_a_record_survives_its_file(tmp_path: Path) -> None:
    one = Record(name="x", commit="abc", date="2026-01-02T00:00Z", verdict="met", seconds=2.5, figures=("ä: 1",))
    record.save(one, tmp_path)
    assert list(record.records(tmp_path)) == [one]
    assert json.loads((tmp_path / "abc" / "x.json").read_text())["verdict"] == "met"


def test_names_are_unique_and_promises_are_sentences() -> None:
    names = [target.name for target in TARGETS]
    assert len(set(names)) == len(names)
    assert all(len(target.promise) > 20 for target in TARGETS)


def test_a_long_test_runs_for_its_bar_only(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(Path(__file__).parents[1].joinpath("conftest.py").read_text())
    pytester.makeini("[pytest]\nmarkers =\n    bar: x\n    lab: x\n")
    pytester.makepyfile(
        "import pytest\n"
        "@pytest.mark.bar('cells')\ndef test_short(): pass\n"
        "@pytest.mark.bar('cells', long=True)\ndef test_long(): pass\n"
        "def test_other(): pass\n"
    )
    root = str(Path(__file__).parents[2])
    pytester.syspathinsert(root)
    assert pytester.runpytest_subprocess().parseoutcomes() == {"passed": 2, "deselected": 1}
    assert pytester.runpytest_subprocess("--bar", "cells").parseoutcomes() == {"passed": 2, "deselected": 1}
    assert pytester.runpytest_subprocess("--bar", "static").ret == driver.NO_TESTS


def test_a_bar_that_was_broken_off_goes_on(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed in its second test it does not run the first again; run to its end, what failed is not tried alone."""
    monkeypatch.setattr(record, "RECORDS", pytester.path / "records")
    pytester.makeconftest("pytest_plugins = ['tests.figures', 'tests.bars.resumed']\n")
    pytester.makepyfile(
        "import os, signal\n"
        "def test_one(figure):\n    open('ran', 'a').write('1'); figure('first', 1)\n"
        "def test_two(figure):\n    open('ran', 'a').write('2'); figure('second', 2)\n"
        "    if not os.path.exists('go'): os.kill(os.getpid(), signal.SIGKILL)\n"
        "def test_three():\n    open('ran', 'a').write('3'); assert not os.path.exists('fail')\n"
    )
    monkeypatch.setattr(driver, "ROOT", pytester.path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0")
    target = Target(name="three", promise="p", command=command)

    def measured() -> tuple[str, tuple[str, ...], str]:
        one = driver.measure(target, "abc")
        ran = (pytester.path / "ran").read_text()
        (pytester.path / "ran").unlink()
        return one.verdict, one.figures, ran

    assert measured() == ("FAILED", (), "12")
    (pytester.path / "go").touch()
    assert measured() == ("met", ("first: 1", "second: 2"), "23")
    (pytester.path / "fail").touch()
    assert measured() == ("FAILED", ("first: 1", "second: 2"), "123")
    assert measured() == ("FAILED", ("first: 1", "second: 2"), "123")


def test_pytest_takes_no_bar_for_a_folder_of_that_name() -> None:
    """`playbooks` is both, and pytest would look for its first conftest.py there."""
    assert any((ROOT / target.name).exists() for target in TARGETS if "pytest" in target.command)
    assert [target.name for target in TARGETS if "pytest" in target.command and target.name in target.command] == []


def test_a_bar_that_does_not_exist_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(Path(__file__).parents[1].joinpath("conftest.py").read_text())
    pytester.makeini("[pytest]\nmarkers =\n    bar: x\n    lab: x\n")
    pytester.makepyfile("import pytest\n@pytest.mark.bar('nonsense')\ndef test_one(): pass\n")
    pytester.syspathinsert(str(Path(__file__).parents[2]))
    done = pytester.runpytest_subprocess()
    assert done.ret != 0
    done.stderr.fnmatch_lines(["*has no bar 'nonsense'*"])
