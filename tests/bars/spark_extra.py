"""Bar: the wheel with [spark] (half a gigabyte) installs into a fresh environment, and its libraries import."""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bars.measuring import report
from tests.house.environments import build_wheel, create


def main() -> int:
    """0 when everything imported."""
    with TemporaryDirectory() as folder:
        began = time.monotonic()
        environment = create(Path(folder) / "environment")
        wheel = build_wheel(Path(folder) / "dist")
        environment.install(f"{wheel}[spark]", "--constraint", "constraints.txt")
        report("install of [spark]", round(time.monotonic() - began, 1), "s")
        done = environment.run("-c", "import pyspark, pyarrow, pandas; print(pyspark.__version__)", cwd=Path(folder))
        print(done.stdout, done.stderr)
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
