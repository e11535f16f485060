"""Settings that mean something else to a broker than to their author.

Listener lists with quotes, variables or blanks that were to be replaced, words of instructions where an address
belongs, and variables that an image ignores or whose names are misspelled.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from enum import Enum

from netdiag.deployment.model.deployment import Broker
from netdiag.kafka.images.bitnami import ALIASES_OF_EXPLICIT, OTHER_ALIASES, PREFIX, aliases, property_of
from netdiag.kafka.images.families import parse_image
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.images.settings import Provenance
from netdiag.kafka.listeners import ListenerEntry, MalformedEntry, parse_listeners
from netdiag.kafka.property_names import PROPERTY_NAMES
from netdiag.patterns import regex
from netdiag.values import dataclass

_EXPRESSION = regex(r"\$\{[^}]*\}|\$\([^)]*\)|\$[A-Za-z_][A-Za-z0-9_]*")
_QUOTES = ('"', "'")
_PLACEHOLDER_NOUN = r"(?:IP|HOST|HOSTNAME|HOST_?IP|ADDR|ADDRESS|DOMAIN|FQDN|SERVER)"
# Upper case with underscores is a variable's name, not a host's; "your" in front means the reader.
_PLACEHOLDER = regex(
    rf"(?:[A-Z0-9]+_)+{_PLACEHOLDER_NOUN}|(?:MY|YOUR)_?{_PLACEHOLDER_NOUN}|[Yy]our[-_.]?\w[\w.-]*|[Xx]{{1,3}}(?:\.[Xx]{{1,3}}){{3}}"
    r"|(?i:change[-_]?me|replace[-_]?me)"
)
_BRACKETED = regex(r"://(?P<text><[^<>]*>|\{\{[^{}]*\}\}|\[[A-Za-z][A-Za-z _-]*\]):")
# Names that other images share with a property, and that Bitnami's scripts use for themselves.
_SCRIPT_VARIABLES = frozenset({"KAFKA_LOG_DIR", "KAFKA_PORT"})
_LIKE_ALIASES = ALIASES_OF_EXPLICIT | {"CONTROLLER_LISTENER_NAMES"}
# What decides whether clients and nodes find the broker, and is too long to be matched by chance.
_VITAL = (
    "listeners",
    "advertised.listeners",
    "listener.security.protocol.map",
    "inter.broker.listener.name",
    "controller.listener.names",
    "controller.quorum.voters",
    "controller.quorum.bootstrap.servers",
    "process.roles",
    "zookeeper.connect",
)
_LARGEST = 64


class MisreadCause(Enum):
    """Why the broker gets something else."""

    QUOTED = "quoted"
    LITERAL = "literal"
    BLANK = "blank"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisreadValue:
    """Characters start..end of a list that the broker takes literally, and what the author will have meant.

    `text` is the whole value, the expression or the name of the variable; `is_fatal` tells that the broker cannot
    parse the entry, `lacks_port` that the gap is where its port should be.
    """

    cause: MisreadCause
    text: str
    start: int
    end: int
    is_fatal: bool = True
    lacks_port: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MisspelledVariable:
    """A variable that sets `name`, no property of Kafka, where `meant` is close; `right` is how the image spells it."""

    variable: str
    name: str
    meant: str
    right: str


def misread_values(broker: Broker, property_name: str) -> tuple[MisreadValue, ...]:
    """What is wrong with a listener list in this way; nothing for a list that nobody wrote."""
    source = broker.source_of(property_name)
    if source is None:
        return ()
    value = source.value
    if is_quoted(value):
        start = len(value) - len(value.lstrip())
        return (MisreadValue(cause=MisreadCause.QUOTED, text=value.strip(), start=start, end=len(value.rstrip())),)
    blanks = sorted(source.blanks, key=_offset)
    causes = (_cause(property_name, blanks, entry) for entry in parse_listeners(value))
    return tuple(cause for cause in causes if cause is not None)


def is_quoted(value: str) -> bool:
    """Whether a value still has the quotes around it that were meant for a shell or for YAML."""
    stripped = value.strip()
    return len(stripped) > 1 and stripped[0] in _QUOTES and stripped[-1] == stripped[0]


def is_placeholder(host: str) -> bool:
    """Whether a host is such a word as a whole."""
    return _PLACEHOLDER.fullmatch(host) is not None


def placeholder_in(entry: str) -> str | None:
    """What stands in brackets for the host of an entry that cannot be parsed because of it."""
    match = _BRACKETED.search(entry)
    return match["text"] if match else None


def ignored_variables(broker: Broker) -> tuple[str, ...]:
    """The tails of KAFKA_ variables that name a property which they do not set, in order."""
    if broker.config.family is not ImageFamily.BITNAMI:
        return ()
    known = aliases(parse_image(broker.member.image))
    return tuple(
        sorted(
            tail
            for variable in broker.declared
            if variable.startswith("KAFKA_") and not variable.startswith(PREFIX) and variable not in _SCRIPT_VARIABLES
            for tail in (variable.removeprefix("KAFKA_"),)
            if tail not in known and variable not in OTHER_ALIASES and property_of(tail) in PROPERTY_NAMES
            if PREFIX + tail not in broker.declared
        )
    )


def ignored_aliases(broker: Broker) -> tuple[str, ...]:
    """Those of them that look as if they were on the list of names without CFG_."""
    return tuple(tail for tail in ignored_variables(broker) if tail in _LIKE_ALIASES)


def misspelled_variables(broker: Broker) -> Iterator[MisspelledVariable]:
    """Every variable that sets an unknown property within two letters of a vital one that is not set."""
    settings = broker.config.settings
    if broker.config.family in (ImageFamily.OTHER, ImageFamily.REDPANDA):
        return
    written = {name for name, setting in settings.items() if setting.provenance is Provenance.VARIABLE}
    for name in sorted(written):
        variable = settings[name].variable
        if variable is None or name in PROPERTY_NAMES or variable not in broker.declared or len(name) > _LARGEST:
            continue
        meant = next((vital for vital in _VITAL if vital not in written and is_close(name, vital)), None)
        if meant is not None:
            yield MisspelledVariable(variable=variable, name=name, meant=meant, right=_spelled(meant, variable, name))


def _spelled(meant: str, variable: str, name: str) -> str:
    """The property that is meant, spelled as `variable` spells `name`: as in a file, or behind the same prefix."""
    if name in variable:
        return meant
    # What stands for a dot has one character or several; letters stay letters.
    letters, end = sum(map(str.isalnum, name)), len(variable)
    while letters and end:
        end -= 1
        letters -= variable[end].isalnum()
    return variable[:end] + meant.upper().replace(".", "_")


def is_close(name: str, other: str) -> bool:
    """Whether at most two letters have to be inserted, deleted or replaced."""
    if abs(len(name) - len(other)) > 2:
        return False
    before = list(range(len(other) + 1))
    for row, letter in enumerate(name, start=1):
        here = [row]
        for column, wanted in enumerate(other, start=1):
            changed = before[column - 1] + (letter != wanted)
            here.append(min(before[column] + 1, here[column - 1] + 1, changed))
        before = here
    return before[-1] <= 2


def _offset(blank: tuple[int, str]) -> int:
    return blank[0]


def _cause(
    property_name: str, blanks: Sequence[tuple[int, str]], entry: ListenerEntry | MalformedEntry
) -> MisreadValue | None:
    malformed = isinstance(entry, MalformedEntry)
    expression = _EXPRESSION.search(entry.text) if malformed else None
    if expression is not None:
        return MisreadValue(cause=MisreadCause.LITERAL, text=expression[0], start=entry.start, end=entry.end)
    first = bisect_left(blanks, entry.start, key=_offset)
    last = bisect_right(blanks, entry.end, lo=first, key=_offset)
    for offset, variable in blanks[first:last]:
        hostless = isinstance(entry, ListenerEntry) and not entry.endpoint.host and offset == entry.host_start
        if malformed or (hostless and property_name == "advertised.listeners"):
            return MisreadValue(
                cause=MisreadCause.BLANK,
                text=variable,
                start=entry.start,
                end=entry.end,
                is_fatal=malformed,
                lacks_port=malformed and offset == entry.end,
            )
    return None
