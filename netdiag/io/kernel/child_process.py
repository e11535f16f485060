"""Work that a second process does meanwhile, a copy of this one, which hands over its result and ends.

Only where it is safe and of use: in a process with one thread, for a copy has no other and would wait for ever on what
those held; and on a machine with a second processor.
"""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")


def possible() -> bool:
    """Whether this process may be copied, and a copy would have a processor to itself."""
    try:
        return len(os.sched_getaffinity(0)) > 1 and len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


class ChildProcess(Generic[T]):
    """The second process; it is gone when the block ends, whatever became of its work."""

    def __init__(self, work: Callable[[], T]) -> None:
        """Begin with `work`, whose result must be one that can be pickled."""
        self._source, target = os.pipe2(os.O_CLOEXEC)
        try:
            self._pid = os.fork()
        except OSError:
            os.close(self._source)
            os.close(target)
            raise
        if self._pid == 0:
            # whoever writes to a maker that is gone must notice
            os.close(self._source)
            _work(work, target)
        os.close(target)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._source >= 0:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self._end()

    def result(self) -> T | None:
        """What its work gave, once it is done; None where it failed."""
        from netdiag.io.kernel.pickling import unpacked

        pieces = []
        while piece := os.read(self._source, 1 << 20):
            pieces.append(piece)
        done: T | None = unpacked(b"".join(pieces)) if self._end() == 0 else None
        return done

    def _end(self) -> int:
        os.close(self._source)
        self._source = -1
        return os.waitpid(self._pid, 0)[1]


def _work(work: Callable[[], T], target: int) -> None:
    """In the copy, which must not live on in what its maker would do next: it runs no handler and no cleaning up."""
    status = 1
    try:
        from netdiag.io.kernel.pickling import packed

        with open(target, "wb", buffering=0) as file:
            left = memoryview(packed(work()))
            while left:
                left = left[file.write(left) :]
        status = 0
    finally:
        os._exit(status)
