"""pytest plugin: how `pytest -n NUMBER` shares the tests among its processes.

What is set up once for several tests stays in one process: the tests of a file, or, where a file sets up one thing
after another, those of one parameter. The long ones begin first, so that no process ends alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

# Files that set up one thing after another, by the parameters of their fixtures.
BY_PARAMETER = (
    "tests/scenarios/test_five_brokers.py",
    "tests/scenarios/test_other_scenarios.py",
)
# What takes longest, the longest first.
LONG = ("tests/house/test_lowest_versions.py", "tests/live/test_broker_prints.py")
# Folders and files whose tests share the one Spark session of a process.
SPARK = (
    *("tests/io/spark/", "tests/traffic/", "tests/app/test_playbook_captures.py", "tests/cli/test_analyze.py"),
    *("tests/cli/test_following.py", "tests/house/test_python_api.py", "tests/wire/test_wire_rules.py"),
    "tests/kafka/test_java_properties.py",
)
# Files whose tests share the wheel that one of them builds.
WHEEL = ("tests/house/test_lowest_versions.py", "tests/house/test_packages.py")
# Files whose tests share the recording of one release of brokers.
RECORDING = ("tests/wire/test_oracle.py", "tests/wire/test_truth.py", "tests/wire/test_truth_spark.py")
_PARAMETER = re.compile(r"\[.*\]$", re.DOTALL)


def unit(nodeid: str) -> str:
    """What the tests that must not be parted have in common."""
    file, _, test = nodeid.partition("::")
    if file.startswith(SPARK):
        return "spark"
    if file in WHEEL:
        return "wheel"
    parameter = _PARAMETER.search(test)
    if parameter and file in RECORDING:
        return f"recording{parameter.group()}"
    return f"{file}{parameter.group()}" if parameter and file in BY_PARAMETER else file


def place(nodeid: str) -> int:
    """Smaller for what is to begin earlier."""
    file = nodeid.partition("::")[0]
    if file.startswith(SPARK):
        return 0
    return 1 + (LONG.index(file) if file in LONG else len(LONG))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests that need the lab last, and the long ones of either kind first."""
    items.sort(key=lambda item: (item.get_closest_marker("lab") is not None, place(item.nodeid)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """In the place of --dist."""
    from xdist.scheduler import LoadScopeScheduling

    class Units(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    # in the order of collection, which conftest.py settles; not those first that have the most tests
    config.option.loadscopereorder = False
    return Units(config, log)
