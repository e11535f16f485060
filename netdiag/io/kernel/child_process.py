"""Work that a second process does meanwhile, a copy of this one, which hands over its result and ends.

Only where it is safe and of use: in a process with one thread, for a copy has no other and would wait for ever on what
those held; and on a machine with a second processor.

The result comes as pickle, with a short cut for the many small values: of a frozen dataclass with slots, pickle asks
and sets each field by a function in Python; here their slots are read and filled directly, in less than half of
the time. The bytes are for a copy of this very process only.
"""

import io
import os
import pickle
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from functools import partial
from operator import attrgetter
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from netdiag.linux.rtnetlink import BridgeVlan, FdbEntry, InterfaceAddress, Link, Neighbour, NextHop, Route, RoutingRule
from netdiag.linux.ruleset import Expression, FilterRule
from netdiag.linux.sockets import Listener

_MANY = (
    *(Link, InterfaceAddress, Route, NextHop, RoutingRule, Neighbour, FdbEntry, BridgeVlan, Listener),
    *(Expression, FilterRule),
)
_NAMES: dict[type, tuple[str, ...]] = {kind: tuple(field.name for field in fields(kind)) for kind in _MANY}
_PUT: dict[type, tuple[Callable[[object, object], None], ...]] = {
    kind: tuple(vars(kind)[name].__set__ for name in names) for kind, names in _NAMES.items()
}

T = TypeVar("T")


def packed(value: object) -> bytes:
    """The bytes of anything that can be pickled."""
    file = io.BytesIO()
    packer = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)
    packer.dispatch_table = {kind: partial(_taken, kind, attrgetter(*names)) for kind, names in _NAMES.items()}
    packer.dump(value)
    return file.getvalue()


# Any: whatever was packed.
def unpacked(data: bytes) -> Any:
    """What `packed` was given."""
    return pickle.loads(data)


def _taken(kind: type[T], get: "attrgetter[Any]", value: T) -> tuple[Callable[..., T], tuple[type[T], Any]]:
    return _rebuilt, (kind, get(value))


def _rebuilt(kind: type[T], values: tuple[object, ...]) -> T:
    made = object.__new__(kind)
    for put, value in zip(_PUT[kind], values, strict=True):
        put(made, value)
    return made


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
        with open(target, "wb", buffering=0) as file:
            left = memoryview(packed(work()))
            while left:
                left = left[file.write(left) :]
        status = 0
    finally:
        os._exit(status)
