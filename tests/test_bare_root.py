"""A bare root has what README asks for, lets its commands make namespaces, and leaves nothing behind."""

import fcntl
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import bare_root as module
from tests.bare_root import PREREQUISITES, REPOSITORY, BareRoot, bare_root, lacking, main

LOOK = """
test "$PWD" = /srv/netdiag && test -f README.md && git log -1 --format=%H || exit 1
unshare --user --map-root-user --net true || exit 2
for tool in kcat tshark java docker; do ! command -v $tool || exit 3; done
test -z "$NETDIAG_OF_THE_MACHINE" || exit 4
! read line || exit 5
exit 7
"""
# Somebody who runs a shell's script in a root, and ends when told to.
USER = """
import os, signal, sys
from pathlib import Path
from tests.bare_root import BareRoot
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
folder = Path(sys.argv[1])
sys.exit(BareRoot(folder=folder, lock=os.open(folder, os.O_RDONLY)).run("sh", "-c", sys.argv[2]))
"""


@pytest.fixture(scope="module")
def root() -> Iterator[BareRoot]:
    """One for all tests; gone afterwards. Skips where there can be none."""
    if os.geteuid() != 0:
        pytest.skip("needs root: a bare root is entered in namespaces")
    if reason := lacking():
        pytest.skip(f"the lab cannot run here: {reason}")
    with bare_root() as made:
        yield made
    assert not made.folder.exists()


def test_it_has_what_the_readme_asks_for() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    asked = re.search(r"^## Try it\n.*?`([a-z0-9 -]+)`", readme, re.DOTALL | re.MULTILINE)
    assert asked is not None
    assert tuple(asked[1].split()) == PREREQUISITES


def test_where_there_can_be_none_the_reason_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "lacking", lambda: "needs root and apt-get")
    assert main(["--lacking"]) == 3
    assert main(["make", "test"]) == 3
    assert capsys.readouterr().out == "needs root and apt-get\nno bare root: needs root and apt-get\n"


@pytest.mark.lab
def test_a_command_stands_in_a_clone_and_has_nothing_of_the_machine(
    root: BareRoot, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NETDIAG_OF_THE_MACHINE", "1")
    assert root.run("sh", "-c", LOOK) == 7
    # what one command leaves is there for the next
    assert root.run("touch", "/tmp/left") == 0
    assert root.run("test", "-e", "/tmp/left") == 0
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert capfd.readouterr().out == head.stdout


@pytest.mark.lab
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_all_ends_with_whoever_started_it(root: BareRoot, number: int) -> None:
    marked = f"98{secrets.randbelow(10**8):08}"
    script = f"trap '' TERM; (trap 'sleep 1; exit' TERM; sleep {marked} & wait) & echo started; wait"
    words = [sys.executable, "-c", USER, str(root.folder), script]
    with subprocess.Popen(words, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as user:
        assert user.stdout is not None
        assert any(line == "started\n" for line in user.stdout)
        assert _running(marked)
        user.send_signal(number)
        user.wait(timeout=60)
    deadline = time.monotonic() + 60
    while _running(marked) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _running(marked)


def test_the_root_of_one_who_was_killed_is_removed_by_the_next(tmp_path: Path) -> None:
    for name in ("killed", "used"):
        (tmp_path / name).mkdir()
    lock = os.open(tmp_path / "used", os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        module.sweep(tmp_path)
    finally:
        os.close(lock)
    assert [path.name for path in tmp_path.iterdir()] == ["used"]


def _running(word: str) -> bool:
    """Whether a process has it in its arguments; the first one inside has those of all."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return False
