"""`python -m netdiag` is netdiag."""

import subprocess
import sys
from pathlib import Path

from netdiag import __version__
from tests.cli.shell import environment


def test_the_package_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "netdiag", "--version"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"netdiag {__version__}\n", "")
