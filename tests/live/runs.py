"""netdiag as a process of its own beside a stack of the lab: what it prints, what it takes, what it leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.cli.shell import ROOT, environment
from tests.lab.processes import run
from tests.lab.stack import Stack

# Not ru_maxrss, which a child takes over from its parent.
_MEASURED = """
import re, sys
from netdiag.cli.main import run
try:
    run()
finally:
    sys.stdout.flush()
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]
    print(f"peak {int(peak) // 1024}", file=sys.stderr)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run; `peak` is MiB of memory, `seconds` the whole process."""

    status: int
    out: str
    errors: str
    seconds: float
    peak: int

    @property
    def document(self) -> dict[str, Any]:
        """What it printed, as JSON."""
        found: dict[str, Any] = json.loads(self.out)
        return found


def measured(*words: str, limit: float = 120) -> Run:
    """`netdiag WORDS`, to its end."""
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *words],
        cwd=ROOT / "tests",
        env=environment(),
        capture_output=True,
        timeout=limit,
        check=False,
    )
    seconds = time.monotonic() - begin
    *said, last = done.stderr.decode().splitlines()
    return Run(
        status=done.returncode,
        out=done.stdout.decode(),
        errors="\n".join(said),
        seconds=seconds,
        peak=int(last.split()[1]),
    )


class Watched:
    """A `--watch --format json` that goes on; its lines as they come, each with when it came."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[tuple[float, dict[str, Any]]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def until(self, wanted: Callable[[dict[str, Any]], bool], *, after: int = 0, limit: float = 120) -> float:
        """When the first line came that is wanted, of those after so many."""
        end = time.monotonic() + limit
        while True:
            for came, line in self.lines[after:]:
                if wanted(line):
                    return came
            assert time.monotonic() < end, self.lines[after:]
            assert self.process.poll() is None
            time.sleep(0.02)

    def interrupted(self) -> int:
        """Its status after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(60)
        self._thread.join(10)
        return status

    @property
    def standing(self) -> tuple[int, int, int]:
        """Open descriptors, threads, and MiB of memory of the process now."""
        folder = f"/proc/{self.process.pid}"
        with open(f"{folder}/status", encoding="ascii") as file:
            status = dict(line.rstrip("\n").split(":", 1) for line in file)
        return len(os.listdir(f"{folder}/fd")), int(status["Threads"]), int(status["VmRSS"].split()[0]) // 1024

    @property
    def peak(self) -> int:
        """The most memory that the process has taken by now, in MiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmHWM:"))

    @property
    def cpu(self) -> float:
        """Seconds of CPU that the process has taken by now."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), json.loads(line)))


@contextmanager
def watching(*words: str) -> Iterator[Watched]:
    """`netdiag check-listeners --live --format json WORDS` for the block."""
    argv = [sys.executable, "-c", "from netdiag.cli.main import run; run()"]
    process = subprocess.Popen(
        [*argv, "check-listeners", "--live", "--format", "json", *words],
        cwd=ROOT / "tests",
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield Watched(process)
    finally:
        process.kill()
        process.wait()


_LISTED = (
    "ip -o link | sed 's/@.*//'; ip -o address show scope global; ip route; ip -6 route show table main; ip rule; "
    "ss -Hlntu | awk '{print $1, $5}' | sort; iptables-save | grep -v '^[:#]'; ip netns identify $$"
)


def traces(stack: Stack) -> dict[str, object]:
    """What a look could leave: in every namespace, process list and file system of the containers, and the engine."""
    docker = stack.engine.docker
    found: dict[str, object] = {
        "containers": sorted(docker("ps", "-a", "--format", "{{.ID}} {{.Image}} {{.State}}").splitlines()),
        "networks": sorted(docker("network", "ls", "--format", "{{.ID}} {{.Name}}").splitlines()),
        "volumes": sorted(docker("volume", "ls", "-q").splitlines()),
        "images": sorted(docker("images", "-aq").splitlines()),
        "docker host": _inside(stack.engine.host.argv(["sh", "-c", _LISTED])),
    }
    for one in stack.containers():
        if one.is_running:
            found[f"{one.service}: network"] = _inside(
                ["nsenter", f"--net=/proc/{one.pid}/ns/net", "sh", "-c", _LISTED]
            )
            found[f"{one.service}: processes"] = docker("top", one.id, "-o", "pid,comm")
        found[f"{one.service}: files"] = docker("diff", one.id)
    return found


def _inside(argv: Sequence[str]) -> str:
    return run(argv).stdout
