"""--watch as a user has it: a process that checks again, on a pipe and on a terminal, until it is stopped."""

import os
import pty
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.shell import BROKEN, CLEAN, NETDIAG, environment, netdiag

WATCHING = b"netdiag: watching "


class Watched:
    """A running netdiag; everything that it says, in one stream."""

    def __init__(self, process: "subprocess.Popen[bytes]", reader: int) -> None:
        self.process = process
        self.said = b""
        self._reader = reader
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def rounds(self, count: int) -> bytes:
        """What was said once this many checks have ended."""
        end = time.monotonic() + 60
        while self.said.count(WATCHING) < count:
            assert time.monotonic() < end, self.said
            assert self.process.poll() is None, self.said
            time.sleep(0.02)
        return self.said

    def _read(self) -> None:
        try:
            while data := os.read(self._reader, 65536):
                self.said += data
        except OSError:
            # The other end of a terminal is gone.
            return


@contextmanager
def watching(folder: Path, *words: str, terminal: bool = False) -> Iterator[Watched]:
    reader, writer = pty.openpty() if terminal else os.pipe()
    process = subprocess.Popen(
        [*NETDIAG, "check-listeners", "--watch", *words],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=writer,
    )
    os.close(writer)
    try:
        yield Watched(process, reader)
    finally:
        process.kill()
        process.wait()
        os.close(reader)


def test_every_file_that_was_read_is_watched(tmp_path: Path) -> None:
    text = BROKEN.replace("1.2.3.4", "${BIND}").replace("    environment:", "    env_file: k.env\n    environment:")
    (tmp_path / "compose.yml").write_text(text, encoding="utf-8")
    (tmp_path / "k.env").write_text("A=1\n", encoding="utf-8")
    changes = [
        (".env", "BIND=1.2.3.4\n"),
        ("k.env", "A=2\n"),
        ("netdiag.toml", "fail-on = 'note'\n"),
        ("compose.yml", CLEAN),
    ]
    with watching(tmp_path) as run:
        run.rounds(1)
        for number, (name, content) in enumerate(changes, 2):
            before = len(run.said)
            (tmp_path / name).write_text(content, encoding="utf-8")
            run.rounds(number)
            assert (b'"1.2.3.4", which is not an address' in run.said[before:]) is (name != "compose.yml")
        assert b"\x1b" not in run.said
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(30) == 130


def test_mistakes_are_told_and_watched_on(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text("services: [", encoding="utf-8")
    with watching(tmp_path, "compose.yml") as run:
        assert b"could not be checked" in run.rounds(1)
        (tmp_path / "netdiag.toml").write_text("selct = 1\n", encoding="utf-8")
        assert b"unknown key 'selct'" in run.rounds(2)
        (tmp_path / "netdiag.toml").unlink()
        run.rounds(3)
        (tmp_path / "compose.yml").write_text(CLEAN, encoding="utf-8")
        assert b"1 file (1 broker)" in run.rounds(4)


def test_it_ends_when_told_to(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(CLEAN, encoding="utf-8")
    with watching(tmp_path) as run:
        run.rounds(1)
        run.process.terminate()
        assert run.process.wait(30) == 143
        assert b"Traceback" not in run.said


def test_a_terminal_is_cleared(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(CLEAN, encoding="utf-8")
    with watching(tmp_path, terminal=True) as run:
        run.rounds(1)
        (tmp_path / "compose.yml").write_text(BROKEN, encoding="utf-8")
        assert run.rounds(2).count(b"\x1b[2J") == 2


@pytest.mark.parametrize("words", [["-"], ["--fix"], ["--diff"], ["--write-baseline", "x"]])
def test_refused(tmp_path: Path, words: list[str]) -> None:
    assert netdiag("check-listeners", "--watch", *words, cwd=tmp_path).returncode == 2
