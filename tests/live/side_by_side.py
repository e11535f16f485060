"""Many small stacks on one engine, some at a time; those that take ports of the docker host one after the other."""

from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Result = TypeVar("Result")
_ANYWHERE, _ON_THE_HOST = 3, 1


class SideBySide(Generic[Result]):
    """Jobs by key, each done once; close at the end."""

    def __init__(self) -> None:
        self._lanes = {False: ThreadPoolExecutor(_ANYWHERE), True: ThreadPoolExecutor(_ON_THE_HOST)}
        self._jobs: dict[Hashable, Future[Result]] = {}

    def start(self, key: Hashable, job: Callable[[], Result], *, is_alone: bool) -> None:
        """Begin this job as soon as there is room for it."""
        if key not in self._jobs:
            self._jobs[key] = self._lanes[is_alone].submit(job)

    def result(self, key: Hashable) -> Result:
        """What the job of this key gave; waits for it."""
        return self._jobs[key].result()

    def close(self) -> None:
        """Wait for what runs, leave out what has not begun."""
        for lane in self._lanes.values():
            lane.shutdown(cancel_futures=True)
