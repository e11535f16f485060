"""What a judgement is: a finding with its places, its reason and its repair."""

from enum import Enum

from netdiag.values import dataclass


class Severity(Enum):
    """How bad a finding is, worst first; the value is the word users see."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """3 for an error, 1 for a note."""
        return {Severity.ERROR: 3, Severity.WARNING: 2, Severity.NOTE: 1}[self]

    def at_least(self, other: "Severity") -> bool:
        """Whether this is as bad as `other` or worse."""
        return self.rank >= other.rank


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLocation:
    """A stretch of a file: lines and columns are 1-based characters, start and end are byte offsets."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerLocation:
    """A place in a running container: its name, and the variable or listener meant."""

    container: str
    part: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireLocation:
    """A place in a packet capture: what was seen first of it, and between whom.

    `client` and `broker` are address:port. `packet` counts from 1 in its file, as Wireshark does, and is None where no
    single packet can be named. `time`: nanoseconds since 1970 UTC.
    """

    file: str
    packet: int | None
    time: int
    client: str
    broker: str

    @property
    def connection(self) -> str:
        """Who talks with whom; the one party that is known where the other is not."""
        return " > ".join(party for party in (self.client, self.broker) if party)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyLocation:
    """A place in the network of a machine: the name of a place (`netdiag.topology.graph`), a device of it, a part.

    `device` is "" for the place as a whole; `part` is an address, a port, a rule.
    """

    place: str
    device: str = ""
    part: str = ""


Location = FileLocation | ContainerLocation | WireLocation | TopologyLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """A second place that a finding needs to be understood, with a few words about it."""

    location: Location
    message: str


class Applicability(Enum):
    """Whether an edit may be made unasked; the value is the word users see.

    A safe edit makes the file say what it can only have meant; an unsafe one changes what the deployment offers:
    who is served where, which ports are published, what clients are told.
    """

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replace the bytes start..end of a file by `replacement`."""

    path: str
    start: int
    end: int
    replacement: str
    applicability: Applicability = Applicability.SAFE


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One judgement of one rule about one place.

    `why` tells the mechanism in a sentence, `hint` the repair in the imperative; `broker_prints` is the
    constant part of what the broker writes to its log when it refuses to start because of this, and is
    None for a broker that starts. The edits are one repair: all of them are made, or none.
    """

    rule: str
    severity: Severity
    message: str
    location: Location
    why: str = ""
    hint: str = ""
    related: tuple[Related, ...] = ()
    service: str | None = None
    listener: str | None = None
    edits: tuple[Edit, ...] = ()
    broker_prints: str | None = None

    @property
    def applicability(self) -> Applicability | None:
        """Unsafe as soon as one of the edits is; None without a repair."""
        if not self.edits:
            return None
        unsafe = any(edit.applicability is Applicability.UNSAFE for edit in self.edits)
        return Applicability.UNSAFE if unsafe else Applicability.SAFE


class Overlooked(Enum):
    """Who asked to overlook a finding; the value is the word users see."""

    COMMENT = "comment"
    BASELINE = "baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """A finding that the user asked to overlook, and the reason they gave."""

    finding: Finding
    by: Overlooked
    reason: str = ""


def by_place(finding: Finding) -> tuple[str, int, int, str, str]:
    """The key that sorts findings by place, then by rule."""
    match finding.location:
        case FileLocation(path=path, line=line, column=column):
            return (path, line, column, finding.rule, finding.message)
        case ContainerLocation(container=container, part=part):
            return (container, 0, 0, finding.rule, part + finding.message)
        case WireLocation(file=file, packet=packet):
            return (file, packet or 0, 0, finding.rule, finding.message)
        case TopologyLocation(place=place, device=device, part=part):
            return (place, 0, 0, finding.rule, device + part + finding.message)
