"""Why a broker does not run: its exit, and the line of its log that says so."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from netdiag.engine.container import Container, Status

# What Kafka and the images' start scripts print when they give up, most telling first. Only constant parts.
_TELLING = (
    "requirement failed:",
    "ConfigException:",
    "Socket server failed to bind to",
    "Error creating broker listeners from",
    "Error parsing configuration property",
    "Each listener must have a different",
    "Cannot serialize",
    "Host string (0.0.0.0) is not routeable",
    "already registered by broker",
    "is required.",
    "is not set",
    "environment variable not set",
    "is not supported on a KRaft controller",
    "is deprecated. Please use",
    "file does not exist",
    "file not writable",
    "appears to be for a legacy cluster",
    "Because controller.quorum.voters is not set",
    "INVALID_VOTER_KEY",
    "InconsistentClusterIdException",
    "Invalid cluster.id in",
    "NoSuchFileException",
    "port out of range",
    "Timed out waiting for connection while in state",
    "OutOfMemoryError",
    "Could not reserve enough space",
    "Cannot assign requested address",
    "Address already in use",
)
_GENERAL = re.compile(r"\b(?:FATAL|ERROR)\b|\b(?:[\w.]*(?:Exception|Error)):")
_FRAMES_BEHIND = re.compile(r"\s+at [\w.$/<>]{1,200}\(.*")
_STACK_FRAME = re.compile(r"\s+at [\w.$/]+\(|\s*\.\.\. \d+ more")
_ENDED_BY_REQUEST = (0, 130, 143)
_TAIL = 200
_DEAD = (Status.EXITED, Status.DEAD, Status.RESTARTING, Status.CREATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """A container that should run a broker and does not. `line` is None where its log says nothing to the point.

    `crash_looping` is one that the engine starts again and again.
    """

    container: str
    exit_code: int
    oom_killed: bool
    crash_looping: bool
    line: str | None

    def __str__(self) -> str:
        what = "keeps restarting, last" if self.crash_looping else "not running,"
        cause = " (out of memory)" if self.oom_killed else ""
        return f"{what} exit code {self.exit_code}{cause}" + (f": {self.line}" if self.line else "")


def is_down(container: Container) -> bool:
    """Whether it serves nobody: ended, never started, or between two attempts to start."""
    return container.state.status in _DEAD


def stopped(container: Container, log: Sequence[str]) -> Stopped:
    """What is known about a container that `is_down`; `log` holds its last lines, oldest first."""
    state = container.state
    by_request = state.exit_code in _ENDED_BY_REQUEST and state.status is Status.EXITED
    return Stopped(
        container=container.name,
        exit_code=state.exit_code,
        oom_killed=state.oom_killed,
        crash_looping=state.status is Status.RESTARTING,
        line=None if by_request else telling_line(log) or state.error or None,
    )


def tail(log: Sequence[str]) -> tuple[str, ...]:
    """The last lines of a log without the frames of stacks."""
    return tuple(line for line in log if not _STACK_FRAME.match(line))[-_TAIL:]


def telling_line(log: Sequence[str]) -> str | None:
    """The line with the most telling message that Kafka is known to give up with, else the last error or exception."""
    lines = [_alone(line).removeprefix("Caused by: ") for line in log if not _STACK_FRAME.match(line)]
    for part in _TELLING:
        found = [line for line in lines if part in line]
        if found:
            return found[-1]
    return next((line for line in reversed(lines) if _GENERAL.search(line)), None)


def _alone(line: str) -> str:
    """Without the frames that some programs print behind the message, on the same line."""
    return _FRAMES_BEHIND.sub("", line.strip())
