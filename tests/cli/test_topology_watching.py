"""`netdiag topology --watch` on this machine: a namespace of the test's own appears and goes."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.cli.console import Console
from netdiag.cli.topology_looking import Order
from netdiag.cli.topology_watching import watch_topology
from netdiag.errors import EngineError
from netdiag.topology.graph import Topology
from tests.cli.shell import environment
from tests.render.topology.topologies import cluster

NAME = f"nd-watch-{os.getpid()}"
_WATCH = """
from netdiag.cli.command import finish
from netdiag.cli.console import Console
from netdiag.cli.topology_looking import Order
from netdiag.cli.topology_watching import watch_topology
import typer
try:
    finish(Console(), lambda: watch_topology(Order(engine=False), Console(verbose=True), every=0.2))
except typer.Exit as end:
    raise SystemExit(end.exit_code)
"""


class Watched:
    """A running watch; what it says, as it comes."""

    def __init__(self, folder: Path) -> None:
        self.said = ""
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", _WATCH],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def until(self, text: str) -> None:
        end = time.monotonic() + 60
        while text not in self.said:
            assert time.monotonic() < end, self.said
            assert self.process.poll() is None, self.said
            time.sleep(0.02)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path)
    try:
        yield watched
    finally:
        watched.process.kill()
        watched.process.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a namespace")
def test_what_appears_and_goes_is_told_with_the_time_until_it_is_interrupted(watched: Watched) -> None:
    watched.until("netdiag: watching the network of this machine")
    try:
        subprocess.run(["ip", "netns", "add", NAME], check=True)
        watched.until(f"+ namespace {NAME}")
    finally:
        subprocess.run(["ip", "netns", "delete", NAME], check=False)
    watched.until(f"- namespace {NAME}")
    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(timeout=30) == 130
    assert watched.said.count(" packet filter rules") == 1, "in a pipe the tree is drawn once"


def test_on_a_terminal_the_latest_changes_stay_below_the_tree(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = [cluster(1), cluster(2), cluster(2), cluster(1)]

    def look(order: Order, surface: Console) -> Topology:
        if not rounds:
            raise Enough
        return rounds.pop(0)

    monkeypatch.setattr("netdiag.cli.topology_watching.look_at", look)
    monkeypatch.setattr("netdiag.cli.topology_watching.is_terminal", lambda: True)
    with pytest.raises(Enough):
        watch_topology(Order(), Console(), every=0)
    shown = capsys.readouterr().out.split("\x1b[2J\x1b[3J\x1b[H")
    assert len(shown) == 4, "nothing is drawn before the first round, nor where nothing changed"
    below = shown[3].rpartition("(no right to look into it)")[2].splitlines()
    assert sum("change" in line for line in below) == 2
    assert len([line for line in below if line.startswith("  and ")]) == 2
    assert len(below) < 22


class Enough(Exception):
    """Ends a watch."""


def test_trouble_is_told_once_and_the_watch_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds: list[Topology | EngineError] = [EngineError("gone"), EngineError("gone"), cluster(1), cluster(2)]

    def look(order: Order, surface: Console) -> Topology:
        if not rounds:
            raise Enough
        now = rounds.pop(0)
        if isinstance(now, EngineError):
            raise now
        return now

    monkeypatch.setattr("netdiag.cli.topology_watching.look_at", look)
    with pytest.raises(Enough):
        watch_topology(Order(), Console(), every=0)
    said = capsys.readouterr()
    assert said.err.count("gone") == 1
    assert said.out.startswith("Who reaches which broker")
    assert "+ container broker-2" in said.out
