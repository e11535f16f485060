"""One step ahead: the next value is made in a thread while somebody works on the last one."""

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

_Value = TypeVar("_Value")
_End = tuple[BaseException | None]


def ahead(values: Iterator[_Value]) -> Iterator[_Value]:
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
        is_over.set()
        while thread.is_alive():
            try:
                ready.get(timeout=0.05)
            except queue.Empty:
                continue
        thread.join()
