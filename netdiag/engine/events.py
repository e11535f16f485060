"""Containers that come and go between two looks at an engine, by what it says of their starts and ends.

Source: GET /events of the Docker Engine API; Podman's says "died" for "die".
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice

from netdiag.digits import number_of
from netdiag.engine.container import PROJECT_LABEL, mapping, number, one_line, text
from netdiag.engine.helper_container import LABEL as HELPER_LABEL
from netdiag.engine.helper_container import is_helper
from netdiag.engine.testcontainers import LABELS as TESTCONTAINERS_LABELS
from netdiag.engine.testcontainers import is_reaper
from netdiag.values import dataclass

LARGEST = 4 * 1024 * 1024
# Engines keep a few hundred.
_MOST_LINES = 10_000
_MOST_REMEMBERED = 1000
_ENDS = ("die", "died")
# What is kept of the attributes of an event: labels are among them.
_TOLD = ("name", "image", "exitCode", "containerExitCode", PROJECT_LABEL, HELPER_LABEL, *TESTCONTAINERS_LABELS)
# What fits into 64 bits, as the engine has it.
_LATEST = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerEvent:
    """A container starts, or ends with `exit_code` (None where it is not told); `time` is in nanoseconds since 1970."""

    id: str
    name: str
    image: str
    starts: bool
    time: int
    exit_code: int | None
    labels: Mapping[str, str]

    @property
    def project(self) -> str | None:
        """The compose project, if it has one."""
        return self.labels.get(PROJECT_LABEL) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortLife:
    """A container that has started and ended while nobody looked, after `seconds`."""

    start: ContainerEvent
    seconds: float
    exit_code: int | None


def parse_events(data: bytes) -> tuple[ContainerEvent, ...]:
    """The events of containers, one document a line; a line that is none is left out."""
    lines = islice(data.split(b"\n"), _MOST_LINES)
    return tuple(event for line in lines if (event := _event(line)) is not None)


def _event(line: bytes) -> ContainerEvent | None:
    try:
        document: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    action, identifier = text(document, "Action"), text(document, "Actor", "ID")
    if not identifier or action not in ("start", *_ENDS):
        return None
    attributes = mapping(document, "Actor", "Attributes")
    told = {key: one_line(value) for key in _TOLD if isinstance(value := attributes.get(key), str)}
    return ContainerEvent(
        id=one_line(identifier),
        name=told.get("name", ""),
        image=told.get("image", ""),
        starts=action == "start",
        time=max(0, min(number(document, "timeNano") or number(document, "time") * 1_000_000_000, _LATEST)),
        exit_code=number_of(told.get("exitCode", told.get("containerExitCode", ""))),
        labels=told,
    )


def query(since: datetime, until: datetime) -> Mapping[str, str]:
    """The parameters that ask for the starts and ends between two times of the engine's clock."""
    return {
        "since": f"{since.timestamp():.6f}",
        "until": f"{until.timestamp():.6f}",
        # Podman goes on for ever without it; Docker does not know it.
        "stream": "false",
        "filters": json.dumps({"type": ["container"], "event": ["start", *_ENDS]}, separators=(",", ":")),
    }


class ShortLives:
    """Finds them from look to look. A container that ends and starts again and again is told once."""

    def __init__(self) -> None:
        self._started: dict[str, ContainerEvent] = {}
        self._seen: frozenset[str] = frozenset()
        self._told: dict[str, None] = {}

    def take(self, events: Iterable[ContainerEvent], seen: Iterable[str]) -> tuple[ShortLife, ...]:
        """Those of the events since the look before, in their order; `seen` are the ids that this look has found."""
        before, self._seen = self._seen, frozenset(seen)
        found = tuple(self._lives(events, before | self._seen))
        for identifier in self._seen:
            self._started.pop(identifier, None)
        for known in (self._started, self._told):
            for identifier in tuple(known)[:-_MOST_REMEMBERED]:
                del known[identifier]
        return found

    def _lives(self, events: Iterable[ContainerEvent], seen: frozenset[str]) -> Iterator[ShortLife]:
        for event in events:
            if event.starts:
                self._started[event.id] = event
                continue
            start = self._started.pop(event.id, None)
            if start is None or event.id in seen or event.id in self._told or is_helper(start.labels):
                continue
            self._told[event.id] = None
            if not is_reaper(start):
                yield ShortLife(start=start, seconds=max(0, event.time - start.time) / 1e9, exit_code=event.exit_code)
