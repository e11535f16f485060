"""The memory of a task's process: how the C library shares it among threads, and when it goes back to the system."""

import ctypes
import gc
from contextlib import suppress

# Options of malloc.h: how many heaps; from which size on memory goes back at once, and how much of a heap may be free.
_MALLOC = {-8: 1, -3: 1 << 20, -1: 1 << 23}


def share_memory() -> None:
    """Have threads take memory from the same heap, and give it back: each of its own keeps 10 MB and more."""
    # No other C library than GNU's has this, nor such heaps.
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        for option, value in _MALLOC.items():
            library.mallopt(option, value)


def give_memory_back(*, collected: bool = True) -> None:
    """Have what is free in the heap go back, of which a process that goes on to something else has no need.

    What waits for Python to collect it is collected first, which takes 50 ms and more.
    """
    if collected:
        gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
