"""Bar: what `netdiag analyze` holds at one size of capture and at a multiple of it, process by process.

`python -m tests.bars.spark_memory [GIGABYTES [TIMES]]`, 1 and 16 by default. Another run has one message
of 100 MB in the capture.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bars import trees
from tests.bars.measuring import report
from tests.bench.making import make

# In MiB.
WORKER, TOGETHER = 400, 2861
LARGEST = 100_000_000


def main(arguments: list[str]) -> int:
    """0 when no worker and no run held more than the bar allows."""
    gigabytes = float(arguments[0]) if arguments else 1.0
    times = float(arguments[1]) if len(arguments) > 1 else 16.0
    found = {}
    with TemporaryDirectory() as folder:
        for name, size, more in (
            ("small", gigabytes, {}),
            ("large", gigabytes * times, {}),
            ("with a message of 100 MB", gigabytes, {"largest": LARGEST}),
        ):
            path = Path(folder, "capture.pcap")
            make(path, int(size * 1e9), connections=200, **more)
            tree = trees.run((sys.executable, "-m", "netdiag", "analyze", path, "--master", "local[2]"), memory=True)
            found[name] = tree
            report(f"{name}: {path.stat().st_size / 1e9:.2f} GB", f"{tree.wall:.0f} s, {tree.cpu:.0f} s of CPU")
            report(f"{name}: all together", round(tree.together), "MiB")
            report(f"{name}: Java", round(tree.java), "MiB")
            report(f"{name}: the largest Python worker", round(tree.worker), "MiB")
            path.unlink()
    growth = found["large"].together / found["small"].together
    report("growth", round(growth, 2))
    good = all(tree.status in (0, 1) and tree.worker <= WORKER and tree.together <= TOGETHER for tree in found.values())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
