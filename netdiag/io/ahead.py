"""One step ahead: the next value is made in a thread while somebody works on the last one."""

import os
import queue
import threading
from collections.abc import Generator
from contextlib import suppress
from typing import TypeVar

_Value = TypeVar("_Value")


def has_cores(count: int) -> bool:
    """Whether this process may run on so many cores at a time."""
    # Which cores a process may use is asked on Linux only.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores >= count


def ahead(values: Generator[_Value, None, None]) -> Generator[_Value, None, None]:
    """The same values and errors; up to two are made before they are asked for, another one never."""
    ready: queue.Queue[tuple[_Value] | BaseException | None] = queue.Queue(1)
    is_over = threading.Event()

    def make() -> None:
        last: BaseException | None = None
        try:
            for value in values:
                ready.put((value,))
                if is_over.is_set():
                    return
        except BaseException as error:  # noqa: BLE001
            last = error
        ready.put(last)

    thread = threading.Thread(target=make, name="ahead", daemon=True)
    thread.start()
    try:
        while isinstance(taken := ready.get(), tuple):
            yield taken[0]
        if taken is not None:
            raise taken
    finally:
        # Of a thread that is not done one more value may come; there must be room for it.
        is_over.set()
        with suppress(queue.Empty):
            ready.get_nowait()
        thread.join()
        values.close()
