"""What a command costs with all processes below it: those that it leaves to end by themselves count, too.

Java that Spark starts is such a process. So a small process becomes the parent of all orphans and waits for them.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.running import descendants

_PAUSE = 0.2
# sys.argv: the file for the result, that for the output, and the command. 36 is PR_SET_CHILD_SUBREAPER.
_STARTER = """
import ctypes, json, os, resource, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
out = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
began = time.monotonic()
pid = os.fork()
if not pid:
    os.dup2(out, 1)
    os.execvp(sys.argv[3], sys.argv[3:])
status = os.waitpid(pid, 0)[1]
wall = time.monotonic() - began
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
spent = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([os.waitstatus_to_exitcode(status), wall, spent.ru_utime + spent.ru_stime], file)
"""


@dataclass(slots=True, kw_only=True)
class Tree:
    """Seconds; and MiB (pages that processes share are divided among them): the most of all processes together, of all
    Java processes together, and of any worker of Spark's Python."""

    status: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    together: float = 0.0
    java: float = 0.0
    worker: float = 0.0
    output: str = field(default="", repr=False)


def run(command: Sequence[str | Path], *, memory: bool = False, environment: Mapping[str, str] | None = None) -> Tree:
    """Run a command to the end of all its processes; `memory` samples what they hold, which costs a little."""
    found = Tree()
    with TemporaryDirectory() as folder:
        result, output = Path(folder, "result.json"), Path(folder, "output")
        starter = [sys.executable, "-I", "-S", "-c", _STARTER, str(result), str(output), *map(str, command)]
        process = subprocess.Popen(starter, env={**os.environ, **(environment or {})}, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            if memory:
                _look(process.pid, found)
            time.sleep(_PAUSE if memory else 0.01)
        found.status, found.wall, found.cpu = json.loads(result.read_text(encoding="utf-8"))
        found.output = output.read_text(encoding="utf-8", errors="replace")
    return found


def _look(pid: int, found: Tree) -> None:
    together = java = 0.0
    for each in descendants(pid):
        held = _held(each)
        words = _words(each)
        together += held
        if words and words[0].endswith("java"):
            java += held
        if "pyspark.daemon" in words:
            found.worker = max(found.worker, held)
    found.together, found.java = max(found.together, together), max(found.java, java)


def _held(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def _words(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    return []
