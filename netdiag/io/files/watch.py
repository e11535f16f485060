"""Waiting until one of some files changes, by looking at them again and again, or until nobody reads any more.

Notifications of the kernel differ on every system and do not arrive from network shares and the mounts of virtual
machines, where editors of compose files often sit; a few calls of stat, twice a second, cost nothing.
"""

import os
import select
import time
from collections.abc import Iterable, Mapping
from typing import TextIO

EVERY = 0.5

Stamp = tuple[int, int, int] | None


def stamps(paths: Iterable[str]) -> dict[str, Stamp]:
    """What tells a change of each file: when it was written, its size, which file it is; None where there is none."""
    return {path: _stamp(path) for path in paths}


def wait_for_change(before: Mapping[str, Stamp], *, every: float = EVERY) -> None:
    """Return once a file is no longer what it was."""
    while stamps(before) == before:
        time.sleep(every)


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def wait_for_reader(stream: TextIO | None, seconds: float) -> bool:
    """Wait; False, and at once, when nobody can read any more what is written to the stream."""
    try:
        descriptor = -1 if stream is None else stream.fileno()
    except (OSError, ValueError):
        descriptor = -1
    if descriptor < 0 or not hasattr(select, "poll"):
        time.sleep(max(0.0, seconds))
        return True
    waiting = select.poll()
    # No event is asked for: a closed pipe tells itself.
    waiting.register(descriptor, 0)
    return not waiting.poll(max(0.0, seconds) * 1000)
