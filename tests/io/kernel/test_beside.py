"""Work of a second process: its result, its failures, and that it never stays.

Each is tried in a process of its own, for that of the tests may have threads.
"""

import subprocess
import sys

import pytest

_PROGRAM = """
import os, threading, time
from netdiag.io.kernel.beside import Beside, possible

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
        "with Beside(lambda: (os.getpid(), 'x' * 500_000)) as beside:\n"
        "    pid, text = beside.result()\n"
        "assert pid != os.getpid() and len(text) == 500_000",
        "with Beside(lambda: 1 / 0) as beside:\n    assert beside.result() is None",
        "with Beside(lambda: os.kill(os.getpid(), 9)) as beside:\n    assert beside.result() is None",
        "with Beside(lambda: lambda: 0) as beside:\n    assert beside.result() is None",
        # nobody asks for the result
        "with Beside(lambda: time.sleep(600)):\n    pass",
        "try:\n    with Beside(lambda: time.sleep(600)):\n        raise KeyError\nexcept KeyError:\n    pass",
        "assert possible() == (len(os.sched_getaffinity(0)) > 1)",
        "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\nassert not possible()",
        "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\nassert not possible()",
    ],
)
def test_a_second_process(body: str) -> None:
    program = _PROGRAM.replace("{body}", body)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("fine\n", "")
