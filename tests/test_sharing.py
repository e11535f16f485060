"""Tests that share what is set up stay together; what is said to be long exists."""

import pytest

from tests.house.tree import ROOT
from tests.sharing import BY_PARAMETER, LONG, RECORDING, SPARK, WHEEL, place, unit

MODULES = """
import os, pytest

@pytest.fixture(scope="module", params=["a", "b"])
def costly(request):
    with open("{log}", "a") as file:
        file.write(f"{{os.getpid()}} {{request.param}}\\n")

@pytest.mark.parametrize("number", range(20))
def test_it(costly, number):
    assert costly is None
"""


@pytest.mark.parametrize(
    ("nodeid", "expected"),
    [
        ("tests/a/test_b.py::test_c[1-x::y]", "tests/a/test_b.py"),
        ("tests/scenarios/test_five_brokers.py::test_c[S01/kraft]", "tests/scenarios/test_five_brokers.py[S01/kraft]"),
        ("tests/scenarios/test_five_brokers.py::test_c", "tests/scenarios/test_five_brokers.py"),
        ("tests/io/spark/test_source.py::test_c", "spark"),
        ("tests/cli/test_rules.py::test_c", "tests/cli/test_rules.py"),
        ("tests/house/test_packages.py::test_c[live]", "wheel"),
        ("tests/wire/test_oracle.py::test_c[3]", "recording[3]"),
        ("tests/wire/test_truth.py::test_c[3]", "recording[3]"),
    ],
)
def test_what_stays_together(nodeid: str, expected: str) -> None:
    assert unit(nodeid) == expected


def test_the_files_with_an_order_of_their_own_exist() -> None:
    assert [file for file in (*BY_PARAMETER, *LONG, *RECORDING, *SPARK, *WHEEL) if not (ROOT / file).exists()] == []
    assert place(f"{SPARK[0]}test_a.py::test_a") < place(f"{LONG[0]}::test_a")
    assert place(f"{LONG[0]}::test_a") < place(f"{LONG[1]}::test_a") < place("tests/test_errors.py::test_a")


def test_a_module_is_set_up_in_one_process_only(pytester: pytest.Pytester) -> None:
    log = pytester.path / "log"
    pytester.makepyfile(test_one=MODULES.format(log=log), test_two=MODULES.format(log=log))
    done = pytester.runpytest("-p", "tests.sharing", "-n", "2")
    assert done.parseoutcomes() == {"passed": 80}
    set_up = log.read_text().splitlines()
    assert len(set_up) == 4
    assert len({line.split()[0] for line in set_up}) == 2
