"""Fuzzers of kernels, run with every index checked: an index outside of its array is an error there, not a crash."""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tests.bars.measuring import report

_CHECKED = "NUMBA_BOUNDSCHECK"


def run(module: str, arguments: Sequence[str], one: Callable[[Random], tuple[int, int]], words: tuple[str, str]) -> int:
    """0 when no seed made a difference; `words` say what the two numbers count that `one` gives of each.

    The module is run again where indices are not checked, as that must be asked for before numba is loaded.
    """
    if os.environ.get(_CHECKED) != "1":
        with tempfile.TemporaryDirectory() as folder:
            settings = {**os.environ, _CHECKED: "1", "NUMBA_CACHE_DIR": folder}
            return subprocess.run([sys.executable, "-m", module, *arguments], env=settings, check=False).returncode
    _try_out()
    parser = argparse.ArgumentParser(prog=f"python -m {module}")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    options = parser.parse_args(arguments)
    sums = [0, 0]
    different = 0
    for seed in range(options.seed, options.seed + options.count):
        try:
            found = one(Random(seed))
        except (AssertionError, IndexError) as error:
            different += 1
            print(f"{seed}: {error!r:.200}", flush=True)
            continue
        sums = [before + more for before, more in zip(sums, found, strict=True)]
    report("damaged captures read by the kernels", options.count)
    for word, count in zip(words, sums, strict=True):
        report(word, count)
    report("captures that plain Python reads otherwise", different)
    return 1 if different else 0


def _try_out() -> None:
    """RuntimeError where an index outside of its array goes unseen, in a kernel or in one that it calls."""
    import numpy as np

    from netdiag.traffic.engine.compiled.copying import copy
    from netdiag.traffic.engine.compiled.kernel import kernel

    @kernel
    def outside(target: "np.ndarray[Any, Any]", source: "np.ndarray[Any, Any]") -> None:
        copy(target, 0, source, 1, len(source))

    try:
        outside(np.zeros(8, np.uint8), np.zeros(8, np.uint8))
    except IndexError:
        return
    raise RuntimeError("indices are not checked")
