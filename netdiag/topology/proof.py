"""What a real connection did on the way that a walk foretold: what was seen where, and whether both agree."""

from dataclasses import dataclass
from enum import StrEnum

from netdiag.linux.ruleset import RuleAddress
from netdiag.topology.hops import End, Path
from netdiag.topology.inventory import LinkId


class Agreement(StrEnum):
    """Whether what was foretold is what happened; the value is the word users see."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One device on the way: whether a first packet was seen there, and an answer to it."""

    link: LinkId
    first: bool
    answer: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A rule whose counter rose with every attempt; `others` is whether it rose by more than they explain."""

    netns: int
    rule: RuleAddress
    packets: int
    others: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """What connect(2) said: `errno` by name, "" for success. `closed` None was not looked at."""

    errno: str
    closed: bool | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A real attempt. `errno` is what connect(2) said, "" for success, "ETIMEDOUT" where nothing came in time.

    `seconds` is how long it took, `seen` the devices of the way in its order, `moved` the rules that every attempt
    moved. `notes` tell what could not be looked at.
    """

    path: Path
    end: End
    errno: str
    seconds: float
    attempts: int
    agreement: Agreement
    because: str
    seen: tuple[Seen, ...] = ()
    moved: tuple[Moved, ...] = ()
    notes: tuple[str, ...] = ()


# Which ends a program cannot tell from each other by what connect(2) says.
_ENDS = {
    "": (End.CONNECTED, End.CLOSED),
    "ECONNREFUSED": (End.REFUSED,),
    "ETIMEDOUT": (End.DROPPED,),
    "ENETUNREACH": (End.NO_ROUTE, End.REFUSED),
    "EHOSTUNREACH": (End.NO_NEIGHBOUR, End.NO_ROUTE, End.REFUSED),
    "EACCES": (End.NO_ROUTE, End.REFUSED),
    "EINVAL": (End.NO_ROUTE,),
    "ENOPROTOOPT": (End.REFUSED,),
    "EADDRNOTAVAIL": (End.NO_ROUTE,),
    "EPERM": (End.DROPPED,),
}


def observed_end(errno: str, *, closed: bool = False) -> End:
    """The end that an errno of connect(2) stands for; `closed` is a connection that ended at once."""
    if not errno:
        return End.CLOSED if closed else End.CONNECTED
    return _ENDS.get(errno, (End.UNKNOWN,))[0]


def agreement(path: Path, errno: str, *, closed: bool | None = None) -> Agreement:
    """Whether a way that was foretold and what connect(2) said are the same; `closed` None was not looked at."""
    if path.end in (End.UNKNOWN, End.UNRESOLVED):
        return Agreement.OPEN
    if path.end not in _ENDS.get(errno, ()):
        return Agreement.DISAGREES
    if path.errno and errno and path.errno != errno:
        return Agreement.DISAGREES
    if not errno and closed is not None and closed is not (path.end is End.CLOSED):
        return Agreement.DISAGREES
    return Agreement.AGREES
