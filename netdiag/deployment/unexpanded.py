"""What of a listener list reached the broker otherwise than its author meant: quotes, variables, blanks."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from netdiag.deployment.member import Broker
from netdiag.kafka.listeners import ListenerEntry, MalformedEntry, parse_listeners

_EXPRESSION = re.compile(r"\$\{[^}]*\}|\$\([^)]*\)|\$[A-Za-z_][A-Za-z0-9_]*")
_QUOTES = ('"', "'")


class Cause(Enum):
    """Why the broker gets something else."""

    QUOTED = "quoted"
    LITERAL = "literal"
    BLANK = "blank"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unexpanded:
    """Characters start..end of a list that the broker takes literally, and what the author will have meant.

    `text` is the whole value, the expression or the name of the variable; `is_fatal` tells that the broker cannot
    parse the entry.
    """

    cause: Cause
    text: str
    start: int
    end: int
    is_fatal: bool = True


def is_quoted(value: str) -> bool:
    """Whether a value still has the quotes around it that were meant for a shell or for YAML."""
    stripped = value.strip()
    return len(stripped) > 1 and stripped[0] in _QUOTES and stripped[-1] == stripped[0]


def unexpanded(broker: Broker, property_name: str) -> tuple[Unexpanded, ...]:
    """What is wrong with a listener list in this way; nothing for a list that nobody wrote."""
    source = broker.source_of(property_name)
    if source is None:
        return ()
    value = source.value
    if is_quoted(value):
        start = len(value) - len(value.lstrip())
        return (Unexpanded(cause=Cause.QUOTED, text=value.strip(), start=start, end=len(value.rstrip())),)
    blanks = sorted(source.blanks, key=_offset)
    causes = (_cause(property_name, blanks, entry) for entry in parse_listeners(value))
    return tuple(cause for cause in causes if cause is not None)


def _cause(
    property_name: str, blanks: Sequence[tuple[int, str]], entry: ListenerEntry | MalformedEntry
) -> Unexpanded | None:
    malformed = isinstance(entry, MalformedEntry)
    expression = _EXPRESSION.search(entry.text) if malformed else None
    if expression is not None:
        return Unexpanded(cause=Cause.LITERAL, text=expression[0], start=entry.start, end=entry.end)
    first = bisect_left(blanks, entry.start, key=_offset)
    last = bisect_right(blanks, entry.end, lo=first, key=_offset)
    for offset, variable in blanks[first:last]:
        hostless = isinstance(entry, ListenerEntry) and not entry.endpoint.host and offset == entry.host_start
        if malformed or (hostless and property_name == "advertised.listeners"):
            return Unexpanded(cause=Cause.BLANK, text=variable, start=entry.start, end=entry.end, is_fatal=malformed)
    return None


def _offset(blank: tuple[int, str]) -> int:
    return blank[0]
