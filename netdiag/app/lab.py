"""A small network to learn from: built and explained step by step, looked at, and removed again."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from netdiag.errors import MissingRight, NetdiagError, cannot_import
from netdiag.topology.tutorial_lab import STEPS, TRIALS, Step, Trial
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.io.tutorial_lab import Left, State, StateFile


@dataclass(frozen=True, slots=True, kw_only=True)
class LabStatus:
    """What is there of a lab; `gone` was removed or replaced by others, `not_shown` this machine could not do."""

    spaces: tuple[str, ...]
    finished: bool
    gone: tuple[str, ...] = ()
    not_shown: tuple[str, ...] = ()


class Lab:
    """A lab of some name, while this process holds it."""

    def __init__(self, name: str, state: "State | None", file: "StateFile") -> None:
        self.name = name
        self._state = state
        self._file = file

    @property
    def exists(self) -> bool:
        """Whether there is one, or a part of one."""
        return self._state is not None

    def build(
        self, step_done: Callable[[int, Step, str | None], None], left: "Callable[[tuple[Left, ...]], None]"
    ) -> "list[tuple[Trial, str]]":
        """Make it, and try it; `step_done` hears of each step, with the reason where it could not be shown.

        When building is interrupted or fails, nothing half made stays; `left` hears of what could not be removed.
        """
        from netdiag.io.tutorial_lab import Builder, CannotShow, attempt, new_state, tear_down

        # An interrupt may end pyroute2 between two of its coroutines, which is nothing to tell the user about.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        state = self._state = new_state(self.name)
        builder = Builder(state, self._file)
        try:
            for number, step in enumerate(STEPS, 1):
                try:
                    builder.do(step)
                except CannotShow as error:
                    if not step.optional:
                        raise
                    step_done(number, step, error.message)
                else:
                    step_done(number, step, None)
            builder.finish()
            trials = (trial for trial in TRIALS if not trial.step or trial.step in state.steps)
            return [(trial, attempt(self.name, trial)) for trial in trials]
        except BaseException:
            left(tear_down(state, self._file))
            raise

    def remove(self) -> "tuple[tuple[str, ...], tuple[Left, ...]]":
        """Remove it; what others had removed or replaced, and what could not be removed."""
        from netdiag.io.tutorial_lab import missing, tear_down

        assert self._state is not None
        gone = missing(self._state) if self._state.finished else ()
        return tuple(gone), tuple(tear_down(self._state, self._file))

    def status(self) -> LabStatus | None:
        """What is there of it; None without a lab."""
        from netdiag.io.tutorial_lab import missing

        state = self._state
        if state is None:
            return None
        not_shown = tuple(step.title for step in STEPS if state.finished and step.title not in state.steps)
        return LabStatus(
            spaces=tuple(state.spaces), finished=state.finished, gone=tuple(missing(state)), not_shown=not_shown
        )


@contextmanager
def open_lab(name: str) -> Iterator[Lab]:
    """The lab of that name, which nobody else changes meanwhile; MissingRight for whoever is not root."""
    if not sys.platform.startswith("linux"):
        raise NetdiagError("a lab needs network namespaces, which only Linux has")
    if os.geteuid() != 0:
        raise MissingRight("a lab needs network namespaces, which only root may create", hint="run it with sudo")
    try:
        from netdiag.io.tutorial_lab import state_file

        with state_file(name, os.environ) as file:
            yield Lab(name, file.read(), file)
    except ModuleNotFoundError as error:
        raise cannot_import("netdiag lab", error, extra="live") from error
