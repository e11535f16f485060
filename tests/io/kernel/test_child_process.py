"""Work of a second process: its result, its failures, and that it never stays.

Each is tried in a process of its own, for that of the tests may have threads.
What goes to the other process comes back equal.
"""

import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from netdiag.io.kernel.child_process import packed, unpacked
from netdiag.linux.rtnetlink import Link, NextHop, Route
from tests.topology.five_brokers import hostile

_PROGRAM = """
import os, threading, time
from netdiag.io.kernel.child_process import ChildProcess, possible

def open_files():
    return len(os.listdir("/proc/self/fd"))

def alone():
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False

before = open_files()
{body}
assert open_files() == before, "files"
assert alone(), "a process was left"
print("fine")
"""


@pytest.mark.parametrize(
    "body",
    [
        # more than a pipe holds
        "with ChildProcess(lambda: (os.getpid(), 'x' * 500_000)) as beside:\n"
        "    pid, text = beside.result()\n"
        "assert pid != os.getpid() and len(text) == 500_000",
        "with ChildProcess(lambda: 1 / 0) as beside:\n    assert beside.result() is None",
        "with ChildProcess(lambda: os.kill(os.getpid(), 9)) as beside:\n    assert beside.result() is None",
        "with ChildProcess(lambda: lambda: 0) as beside:\n    assert beside.result() is None",
        # nobody asks for the result
        "with ChildProcess(lambda: time.sleep(600)):\n    pass",
        "try:\n    with ChildProcess(lambda: time.sleep(600)):\n        raise KeyError\nexcept KeyError:\n    pass",
        "assert possible() == (len(os.sched_getaffinity(0)) > 1)",
        "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\nassert not possible()",
        "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\nassert not possible()",
    ],
)
def test_a_second_process(body: str) -> None:
    program = _PROGRAM.replace("{body}", body)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("fine\n", "")


ROUTE = Route(
    family=4,
    destination="0.0.0.0/0",
    table=254,
    type="unicast",
    scope=0,
    protocol=2,
    hops=(NextHop(gateway="10.0.0.1", ifindex=2), NextHop(gateway="10.0.0.2", ifindex=None, weight=3)),
    metrics={"mtu": 1400},
)


def test_every_fact_of_a_machine() -> None:
    namespaces = hostile().inventory.namespaces
    assert unpacked(packed(namespaces)) == namespaces


def test_every_field_is_carried() -> None:
    for value in (ROUTE, Link(ifindex=7, ifname="a\x1b", link=3, altnames=("b",), details={"x": [1, {"y": None}]})):
        again = unpacked(packed(value))
        assert again is not value
        assert [getattr(again, field.name) for field in fields(value)] == [
            getattr(value, field.name) for field in fields(value)
        ]


def test_what_comes_back_is_as_frozen_as_before() -> None:
    again = unpacked(packed(ROUTE))
    with pytest.raises(FrozenInstanceError):
        again.table = 1
    assert replace(again, table=1).table == 1


def test_other_values_are_carried_as_ever() -> None:
    value = {"unread": ["x"], 5: (None, 1.5), "set": frozenset({1})}
    assert unpacked(packed(value)) == value
