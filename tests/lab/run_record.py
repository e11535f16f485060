"""What one engine run has made outside its own memory, written down before it is made.

`/run/ndlab-ID/record.json` is read by the warden (which tears down when its owner is gone) and by
the next start (which tears down after a warden that was killed too). Everything is found again by
the ids in it: process ids with their start times, names of namespaces, the cgroup's name, and the
run's mark in the environment of every process started for it.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.lab.processes import start_time

RUN_ROOT = Path("/run")
PREFIX = "ndlab-"
MARK = "NETDIAG_LAB_RUN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One run; `warden` and its start time tell whether somebody is looking after it."""

    run_id: str
    slot: str
    warden: int = 0
    warden_started: int = 0

    @property
    def home(self) -> Path:
        """The run's folder of sockets and small files."""
        return RUN_ROOT / f"{PREFIX}{self.run_id}"

    @property
    def socket(self) -> Path:
        """The engine's API socket."""
        return self.home / "docker.sock"

    @property
    def host_netns(self) -> str:
        """Name of the docker host's network namespace."""
        return f"{PREFIX}{self.run_id}"

    @property
    def lan_netns(self) -> str:
        """Name of the LAN machine's network namespace."""
        return f"{PREFIX}{self.run_id}-lan"

    @property
    def cgroup(self) -> str:
        """The cgroup that holds every container of the run."""
        return f"/{PREFIX}{self.run_id}"

    def is_watched(self) -> bool:
        """Whether the warden of this run lives."""
        return self.warden != 0 and start_time(self.warden) == self.warden_started

    def write(self) -> None:
        """Write atomically, readable by the owner only."""
        self.home.mkdir(mode=0o711, exist_ok=True)
        scratch = self.home / "record.json.new"
        scratch.write_text(json.dumps(asdict(self)))
        scratch.rename(self.home / "record.json")


def read_records() -> Iterator[Record]:
    """The runs that have left a record, live ones included."""
    for path in sorted(RUN_ROOT.glob(f"{PREFIX}*/record.json")):
        try:
            yield Record(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            continue


def processes_of(record: Record) -> dict[int, bool]:
    """The run's live processes: pid -> whether it runs in a container."""
    found: dict[int, bool] = {}
    mark = f"{MARK}={record.run_id}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if f"{record.cgroup}/" in (entry / "cgroup").read_text():
                found[int(entry.name)] = True
            elif mark in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = False
        except OSError:
            continue
    return found


def end_processes(pids: list[int], number: signal.Signals, patience: float) -> list[int]:
    """Signal each, wait until they are gone; those that are not."""
    alive = dict.fromkeys(pids)
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            alive.pop(pid)
    deadline = time.monotonic() + patience
    while alive and time.monotonic() < deadline:
        time.sleep(0.05)
        alive = {pid: None for pid in alive if start_time(pid) is not None}
    return list(alive)
