"""Run a command and say what it cost: wall time, CPU seconds of it and its children, and the most memory.

The kernel's figure of the most memory is that of the largest process, and counts what the starting process held. So
the command is started by a small process of its own, and memory of all its processes together is sampled besides.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_PAUSE = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE")
# Run by a bare interpreter: sys.argv is the file for the result, that for the output, and the command.
_STARTER = """
import json, os, resource, sys, time
out = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
began = time.monotonic()
pid = os.fork()
if not pid:
    os.dup2(out, 1)
    os.execvp(sys.argv[3], sys.argv[3:])
status = os.waitpid(pid, 0)[1]
wall = time.monotonic() - began
spent = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([os.waitstatus_to_exitcode(status), wall, spent.ru_utime + spent.ru_stime, spent.ru_maxrss], file)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds and MiB. `largest` is the largest process, `together` all of them (shared pages counted once)."""

    status: int
    wall: float
    cpu: float
    largest: float
    together: float

    def as_json(self) -> dict[str, Any]:
        """For a record of a run."""
        return asdict(self)


def run(
    command: Sequence[str | Path],
    *,
    output: Path = Path(os.devnull),
    environment: Mapping[str, str] | None = None,
    errors: Path | None = None,
    prepare: Callable[[], None] | None = None,
) -> Cost:
    """Run a command to its end. `prepare` is called right before it, and is not timed."""
    if prepare:
        prepare()
    with TemporaryDirectory() as folder, (errors or Path(os.devnull)).open("wb") as complaints:
        result = Path(folder) / "result.json"
        starter = [sys.executable, "-I", "-S", "-c", _STARTER, str(result), str(output), *map(str, command)]
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        process = subprocess.Popen(starter, env={**kept, **(environment or {})}, stderr=complaints)
        with _Sampler(process.pid) as sampler:
            process.wait()
        status, wall, cpu, largest = json.loads(result.read_text(encoding="utf-8"))
    return Cost(status=status, wall=wall, cpu=cpu, largest=largest / 1024, together=max(sampler.most, largest / 1024))


def median(costs: Sequence[Cost]) -> Cost:
    """Figure by figure; memory is the most of all runs, the status that of a run that failed, if one did."""
    return Cost(
        status=next((cost.status for cost in costs if cost.status), 0),
        wall=statistics.median(cost.wall for cost in costs),
        cpu=statistics.median(cost.cpu for cost in costs),
        largest=max(cost.largest for cost in costs),
        together=max(cost.together for cost in costs),
    )


def least(costs: Sequence[Cost]) -> Cost:
    """The same with the least time: of one program on several inputs, what else the machine does only adds to it."""
    wall, cpu = min(cost.wall for cost in costs), min(cost.cpu for cost in costs)
    return replace(median(costs), wall=wall, cpu=cpu)


def uncached(path: Path) -> None:
    """Have the kernel forget what it keeps of a file: the next to read it reads the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def cached(path: Path) -> None:
    """Read a file once."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


class _Sampler:
    """What all the processes below one hold together, the most of many looks."""

    def __init__(self, pid: int) -> None:
        self.most = 0.0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "_Sampler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(_PAUSE):
            pids = descendants(self._pid)
            # sharing takes the kernel a walk over all pages, which would slow a single large process down
            look = _resident if len(pids) == 1 else _held
            self.most = max(self.most, sum(look(pid) for pid in pids))


def descendants(pid: int) -> list[int]:
    """The children of a process and theirs."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                found += [int(child), *descendants(int(child))]
    return found


def _resident(pid: int) -> float:
    """MiB of one process that are in memory."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE / 2**20
    return 0.0


def _held(pid: int) -> float:
    """MiB of one process; pages that several share are divided among them."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0
