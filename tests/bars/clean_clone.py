"""Bar: `make demo` and `make test` in a clean clone of what is committed, each with its time."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bars.measuring import timed
from tests.house.tree import ROOT


def main() -> int:
    """The worst status of the three."""
    with TemporaryDirectory() as folder:
        clone = Path(folder) / "netdiag"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        demo = timed("make demo, first time", ["make", "demo"], clone)
        again = timed("make demo, again", ["make", "demo"], clone)
        return max(demo, again, timed("make test", ["make", "test"], clone))


if __name__ == "__main__":
    sys.exit(main())
