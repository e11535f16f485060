"""What `make demo` shows ends as it promises: the findings, their repair, and nothing left of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import environment
from tests.house.tree import ROOT

BROKEN = ROOT / "compose" / "scenarios" / "S02-inter-broker-loopback" / "zookeeper.broken.yml"
RULE = "[listener-bound-to-loopback]"


NETDIAG = f"exec {sys.executable} -c 'from netdiag.cli.main import run; run()' \"$@\""


def demo(folder: Path, netdiag: str, *, has_engine: bool = True) -> subprocess.CompletedProcess[str]:
    """`docs/demo.sh` with a command of these lines, from the top of the repository."""
    command = folder / "netdiag"
    for path, lines in ((command, netdiag), (folder / "python", f"exit {int(not has_engine)}")):
        path.write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
        path.chmod(0o755)
    env = environment({"COLUMNS": "120", "TMPDIR": str(folder)})
    return subprocess.run(
        ["sh", "docs/demo.sh", command], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=120
    )


def test_the_demonstration_repairs_what_it_finds(tmp_path: Path) -> None:
    before = BROKEN.read_bytes()
    done = demo(tmp_path, NETDIAG)
    assert done.returncode == 0, done.stdout + done.stderr
    found, patch, repaired, wire, dialled = done.stdout.split("\n==== ")[1:]
    assert (found.count(RULE), "5 errors in 1 file" in found) == (1, True)
    assert (patch.count("\n-      KAFKA_LISTENERS"), patch.count("\n+      KAFKA_LISTENERS")) == (5, 5)
    assert "no findings in 1 file (5 brokers)" in repaired
    assert (wire.count("  ApiVersions v3 "), dialled.count(",127.0.0.1:9092,refused")) == (2, 4)
    assert "repaired 5 findings in compose.yml" in done.stderr
    assert "--unsafe-fixes" not in done.stderr
    assert BROKEN.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"netdiag", "python"}


def test_without_the_capture_engine_it_explains_a_log_and_tells_how_to_get_it(tmp_path: Path) -> None:
    done = demo(tmp_path, NETDIAG, has_engine=False)
    assert done.returncode == 0, done.stdout + done.stderr
    log = done.stdout.split("\n==== ")[4]
    assert "proven  one-listener-for-two-worlds" in log
    assert log.endswith("then run: make native\n")


@pytest.mark.parametrize("step", ["compose/scenarios", "--diff", "--fix"])
def test_a_step_that_ends_otherwise_than_promised_ends_the_demonstration(tmp_path: Path, step: str) -> None:
    """Status 1 where findings are expected, 0 where none is left; this netdiag says 4 at one step."""
    expected = 'case "$*" in *--fix*) exit 0;; *) exit 1;; esac'
    done = demo(tmp_path, f'case "$*" in *"{step}"*) exit 4;; esac\n{expected}')
    assert done.returncode == 1
    assert "got status 4 from" in done.stderr
