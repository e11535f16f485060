"""One step ahead: the next value is made in a thread while somebody works on the last one."""

import os
import queue
import threading
from collections.abc import Generator
from typing import TypeVar

_Value = TypeVar("_Value")

_AHEAD = 2


def has_cores(count: int) -> bool:
    """Whether this process may run on so many cores at a time."""
    # Which cores a process may use is asked on Linux only.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores >= count


def ahead(values: Generator[_Value, None, None]) -> Generator[_Value, None, None]:
    """The same values and errors; up to two are made before they are asked for, another one never."""
    ready: queue.SimpleQueue[tuple[_Value] | BaseException | None] = queue.SimpleQueue()
    # One for each value that may be made; both queues are cheaper than one with a bound, which takes three locks.
    room: queue.SimpleQueue[None] = queue.SimpleQueue()
    is_over = threading.Event()

    def make() -> None:
        last: BaseException | None = None
        try:
            room.get()
            for value in values:
                ready.put((value,))
                room.get()
                if is_over.is_set():
                    return
        except BaseException as error:  # noqa: BLE001
            last = error
        ready.put(last)

    for _ in range(_AHEAD):
        room.put(None)
    thread = threading.Thread(target=make, name="ahead", daemon=True)
    thread.start()
    try:
        while isinstance(taken := ready.get(), tuple):
            room.put(None)
            yield taken[0]
        if taken is not None:
            raise taken
    finally:
        is_over.set()
        room.put(None)
        thread.join()
        values.close()
