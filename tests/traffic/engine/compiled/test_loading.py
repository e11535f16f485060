"""Compiled code is taken out of files without making ready for compiling, and callers can be compiled with it."""

import subprocess
import sys
from pathlib import Path

import numba

from netdiag.traffic.engine.compiled import loading

KERNELS = """
import numpy as np
from netdiag.traffic.engine.compiled.kernel import inlined, kernel

@inlined
def doubled(values, at):
    return 2 * values[at]

@kernel
def total(values):
    result = 0
    for at in range(len(values)):
        result += doubled(values, at)
    return result

@kernel
def both(values, more):
    return total(values), total(more)
"""

FIRST = """
import numpy as np
import kernels
assert kernels.total(np.arange(4)) == 12
assert kernels.doubled(np.arange(4), 3) == 6
"""

SECOND = """
import sys
import numpy as np
import kernels
assert kernels.total(np.arange(4)) == 12
assert kernels.doubled(np.arange(4), 3) == 6
assert sum(kernels.total.stats.cache_hits.values()) == 1
assert not kernels.total.stats.cache_misses
print("numba.cpython.unicode" in sys.modules)
# What a caller is compiled with came out of a file, and other types are compiled then.
assert kernels.both(np.arange(4), np.arange(4, dtype="u1")) == (12, 12)
assert sum(kernels.both.stats.cache_misses.values()) == 1
"""


def ran(folder: Path, script: str) -> str:
    environment = {"NUMBA_CACHE_DIR": str(folder / "kept"), "PYTHONPATH": f"{folder}:{Path(__file__).parents[4]}"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_what_is_in_files_is_taken_without_what_compiling_needs(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    ran(tmp_path, FIRST)
    assert ran(tmp_path, SECOND) == "False"
    # All of it is in files now.
    assert ran(tmp_path, SECOND.replace("both.stats.cache_misses", "both.stats.cache_hits")) == "False"


def test_with_another_numba_all_is_as_it_does_it(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    unknown = "from netdiag.traffic.engine.compiled import loading\nloading.IS_KNOWN = False\n"
    ran(tmp_path, unknown + FIRST)
    assert ran(tmp_path, unknown + SECOND) == "True"


def test_the_numba_that_is_tested_with_is_known() -> None:
    assert loading.IS_KNOWN, numba.__version__
