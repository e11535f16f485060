"""The picture in the README shows what netdiag prints today; GOLDEN=write in the environment draws it anew."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cli.shell import ROOT, netdiag

STACK = ROOT / "compose/scenarios/S02-inter-broker-loopback/kraft.broken.yml"
PICTURE = ROOT / "docs/check-listeners.svg"


def test_the_picture_is_what_is_printed(tmp_path: Path) -> None:
    shutil.copy(STACK, tmp_path / "compose.yml")
    printed = netdiag("check-listeners", "--color", "always", "compose.yml", cwd=tmp_path, env={"PYTHONUTF8": "1"})
    drawing: list[str | Path] = [
        sys.executable,
        ROOT / "tools/terminal_picture.py",
        "netdiag check-listeners compose.yml",
    ]
    drawn = subprocess.run(drawing, input=printed.stdout, capture_output=True, check=True).stdout
    if os.environ.get("GOLDEN") == "write":
        PICTURE.write_bytes(drawn)
    assert PICTURE.read_bytes() == drawn
