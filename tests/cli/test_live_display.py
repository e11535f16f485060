"""`check-listeners --live --watch` on a scripted world: lines in a pipe, a picture on a terminal, and a clean end."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jsonschema
import pytest

from tests.cli.shell import environment, netdiag
from tests.render.literals import HOST, OK, REFUSED, inside
from tests.render.test_watch import SCHEMA, lost, seen

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
ENTER, LEAVE = "\x1b[?1049h\x1b[?25l\x1b[?7l", "\x1b[?7h\x1b[?25h\x1b[?1049l"
# The looks that a process makes, one after the other; the last one goes on for ever.
SCRIPT = """
import signal
import sys
from itertools import chain, repeat
import typer
from netdiag.app.watch import live_rounds
from netdiag.cli import main
from netdiag.cli.command import finish
from netdiag.cli.console import Console
from netdiag.cli.live_display import show_rounds
from tests.cli.test_live_display import WORLD
if "terminate" in sys.argv:
    signal.signal(signal.SIGTERM, main._end)
looks, every, console = chain(WORLD, repeat(WORLD[-1])), float(sys.argv[1]), Console()
rounds = live_rounds(lambda: next(looks), every, sys.stdout)
def command():
    show_rounds(rounds, console, every=every, as_json="json" in sys.argv)
    return 0
try:
    finish(console, command)
except typer.Exit as end:
    raise SystemExit(end.exit_code)
"""
KAFKA = inside("kafka")
WELL = seen({(HOST, "kafka:9092"): OK, (KAFKA, "kafka:9092"): OK})
WORLD = (
    WELL,
    WELL,
    seen({(HOST, "kafka:9092"): REFUSED}, down={"kafka": "not running, exit code 137"}),
    lost(),
    lost(),
    WELL,
)
TURNS = [
    ("new", "cell"),
    ("new", "cell"),
    ("broke", "broker"),
    ("broke", "cell"),
    ("gone", "cell"),
    ("broke", "input"),
    ("back", "input"),
    ("back", "broker"),
    ("back", "cell"),
    ("new", "cell"),
]


class Watched:
    """A running watch; what it says, as it comes."""

    def __init__(self, process: "subprocess.Popen[bytes]", reader: int) -> None:
        self.process = process
        self.said = ""
        self.reader = reader
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def until(self, text: str, *, after: int = 0) -> None:
        end = time.monotonic() + 60
        while text not in _COLOURS.sub("", self.said[after:]):
            assert time.monotonic() < end, self.said
            assert self.process.poll() is None, self.said
            time.sleep(0.02)

    def until_said(self, text: str, *, after: int = 0) -> None:
        end = time.monotonic() + 60
        while text not in self.said[after:]:
            assert time.monotonic() < end, self.said
            time.sleep(0.02)

    def interrupted(self) -> int:
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(30)
        self._thread.join(5)
        return status

    def _read(self) -> None:
        try:
            while data := os.read(self.reader, 65536):
                self.said += data.decode()
        except OSError:
            return


@contextmanager
def watching(*words: str, terminal: bool = False, size: tuple[int, int] = (24, 80)) -> Iterator[Watched]:
    reader, writer = pty.openpty() if terminal else os.pipe()
    if terminal:
        resize(writer, *size)
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", SCRIPT, *words],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=writer,
        preexec_fn=at_terminal if terminal else None,
        start_new_session=True,
    )
    os.close(writer)
    try:
        yield Watched(process, reader)
    finally:
        process.kill()
        process.wait()
        os.close(reader)


def at_terminal() -> None:
    """For the child: its standard output is the terminal that tells it of a new size."""
    fcntl.ioctl(1, termios.TIOCSCTTY, 0)


def resize(terminal: int, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def test_in_a_pipe_the_report_comes_once_and_then_the_changes() -> None:
    with watching("0.05") as run:
        run.until("new     inside kafka → kafka:9092: ok\n")
        assert run.interrupted() == 130
    assert "\x1b" not in run.said
    assert run.said.count("Where clients can connect") == 1
    said = run.said.partition("netdiag: watching; press Ctrl-C to stop\n")[2].splitlines()
    assert [line.replace(line[:8], " " * 8) if line[:2].isdecimal() else line for line in said] == [
        "         broke   kafka: running → not running",
        "                 not running, exit code 137",
        "         broke   docker host → kafka:9092: ok → bootstrap: refused",
        "                 refused, nothing listens there",
        "         gone    inside kafka → kafka:9092: ok",
        "         broke   docker engine: checked → not checked",
        "                 no engine answers there",
        "         back    docker engine: not checked → checked",
        "         back    kafka: not running → running",
        "         back    docker host → kafka:9092: bootstrap: refused → ok",
        "         new     inside kafka → kafka:9092: ok",
        "netdiag: interrupted",
    ]


def test_as_json_each_change_is_a_line() -> None:
    with watching("0.05", "json") as run:
        end = time.monotonic() + 60
        while run.said.count("\n") < len(TURNS):
            assert time.monotonic() < end, run.said
            time.sleep(0.02)
        assert run.interrupted() == 130
    lines = [json.loads(line) for line in run.said.splitlines() if line.startswith("{")]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    assert [(line["turn"], line["kind"]) for line in lines] == TURNS
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)


def test_on_a_terminal_the_picture_is_drawn_in_place_and_the_terminal_given_back() -> None:
    with watching("0.05", terminal=True) as run:
        run.until("back    docker host")
        assert run.interrupted() == 130
    assert run.said.startswith(ENTER)
    assert run.said.count(ENTER) == run.said.count(LEAVE) == 1
    before, _, after = run.said.partition(LEAVE)
    assert "\x1b[2J" not in before
    assert before.count("\x1b[H") >= 4
    # What happened stays readable after the end.
    assert "not running, exit code 137" in after
    assert after.rstrip().endswith("netdiag: interrupted")


def test_another_size_is_another_picture_at_once() -> None:
    # No look comes that would draw it.
    with watching("3600", terminal=True, size=(24, 80)) as run:
        run.until("2 of 2 cells work")
        before = len(run.said)
        resize(run.reader, 3, 30)
        run.until("\x1b[J", after=before)
        assert run.interrupted() == 130
    drawn = run.said[before:].partition(LEAVE)[0].rpartition("\x1b[H")[2].split("\r\n")
    assert len(drawn) <= 3
    assert all(len(line.replace("\x1b[K", "").replace("\x1b[J", "")) < 60 for line in drawn)


def test_told_to_end_it_gives_the_terminal_back() -> None:
    with watching("3600", "terminate", terminal=True) as run:
        run.until("2 of 2 cells work")
        run.process.send_signal(signal.SIGTERM)
        assert run.process.wait(30) == 143
        run.until_said(LEAVE)


def test_a_job_that_is_suspended_gives_the_terminal_back_meanwhile() -> None:
    with watching("3600", terminal=True) as run:
        run.until("2 of 2 cells work")
        run.process.send_signal(signal.SIGTSTP)
        run.until_said(LEAVE)
        before = len(run.said)
        run.process.send_signal(signal.SIGCONT)
        run.until_said(ENTER, after=before)
        run.until("2 of 2 cells work", after=before)
        assert run.interrupted() == 130


def test_it_ends_when_nobody_reads_any_more() -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "0.05", "json"],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert run.stdout is not None
        assert run.stdout.readline().startswith(b"{")
        run.stdout.close()
        assert run.wait(60) == 0
        assert run.stderr is not None
        assert b"Traceback" not in run.stderr.read()
    finally:
        run.kill()
        run.wait()
        assert run.stderr is not None
        run.stderr.close()


@pytest.mark.parametrize(
    "words",
    [
        ["--watch", "--live", "--fix"],
        ["--watch", "--live", "--format", "sarif"],
        ["--watch", "--live", "--format", "json", "--output", "x"],
        ["--watch=0.2", "--live"],
        ["--watch=often", "--live"],
        ["--every", "5"],
        ["--every", "5", "--watch"],
        ["--every", "5", "--live"],
        ["--live", "--watch", "--record", "x"],
        ["--replay", "x", "--live"],
        ["--replay", "x", "compose.yml"],
        ["--replay", "x", "--record", "y"],
        ["--live", "--why", "--record", "x"],
    ],
)
def test_refused(tmp_path: Path, words: list[str]) -> None:
    assert netdiag("check-listeners", *words, cwd=tmp_path).returncode == 2
