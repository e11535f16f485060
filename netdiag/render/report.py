"""What one run of check-listeners found out, as a value: inputs, findings, cells, and what could not be looked at."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal, assert_never

from netdiag.findings import (
    ContainerLocation,
    FileLocation,
    Finding,
    Location,
    Severity,
    Suppressed,
    TopologyLocation,
    WireLocation,
)
from netdiag.patterns import regex
from netdiag.render.findings.finding_text import harmless, path_text
from netdiag.render.wording import plural
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.deployment.declared_addresses import DeclaredAddress
    from netdiag.deployment.model.causes import Explanation
    from netdiag.deployment.model.vantage import Vantage
    from netdiag.deployment.model.verdict import Cell
    from netdiag.deployment.neighbours import UrlCell
    from netdiag.deployment.observation.live_view import SecuredPort
    from netdiag.deployment.observation.registered import Registered
    from netdiag.deployment.prediction.mesh import Mesh
    from netdiag.engine.events import ShortLife

# Findings of one kind in one place beyond this are counted: more than anybody reads or wrote by hand.
MOST_OF_A_KIND = 200
_PLACE_OF_ERROR = regex(r"(?P<path>.+?):(?P<line>\d{1,9})(?::\d+)?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why something could not be looked at; `hint` is an imperative."""

    message: str
    where: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What was asked for: a file, a job of a CI file, or what runs. `error` is None when it was read.

    Of `brokers`, the `controllers` serve no clients.
    """

    name: str
    kind: Literal["file", "job", "manifest", "project", "engine"] = "file"
    brokers: tuple[str, ...] = ()
    controllers: tuple[str, ...] = ()
    also_read: tuple[str, ...] = ()
    error: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The cells of one input; `not_running` are brokers without a container to look from, and the reason if known.

    `mesh` is what its members get from each other; None where nobody looked. `causes` are asked for with --why. `basis`
    says in words what a prediction rests on that is no deployment as a whole.
    """

    input: str
    vantages: "tuple[Vantage, ...]"
    cells: "tuple[Cell, ...]"
    not_running: Mapping[str, str] = field(default_factory=dict)
    mesh: "Mesh | None" = None
    causes: "tuple[Explanation, ...]" = ()
    basis: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A vantage that was asked for and not taken; `command` is the line that would take it."""

    vantage: str
    reason: str
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPort:
    """What a port of one input told about its security."""

    input: str
    port: "SecuredPort"


@dataclass(frozen=True, slots=True, kw_only=True)
class CameAndWent:
    """A container of one input that has started and ended since the look before."""

    input: str
    life: "ShortLife"


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRow:
    """What a member of one input gets at the URL of a service beside the brokers."""

    input: str
    cell: "UrlCell"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRow:
    """An address that stands in the files of one input."""

    input: str
    address: "DeclaredAddress"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCluster:
    """What a cluster of one input has registered."""

    input: str
    cluster: "Registered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything a renderer may show. `sources` holds the bytes of the files that findings point into.

    `suppressed` are the findings that the user asked to overlook, which are not in `findings`. `interrupted`: the user
    stopped the run, and inputs that were not reached carry that as their error. `is_cut`: a limit left out addresses to
    try; `notes` say how many. `addresses` are gathered for editors only.
    """

    inputs: tuple[Input, ...] = ()
    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    urls: tuple[UrlRow, ...] = ()
    addresses: tuple[AddressRow, ...] = ()
    security: tuple[SeenPort, ...] = ()
    registered: tuple[SeenCluster, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    came_and_went: tuple[CameAndWent, ...] = ()
    notes: tuple[str, ...] = ()
    sources: Mapping[str, bytes] = field(default_factory=dict)
    interrupted: bool = False
    is_cut: bool = False

    @property
    def unread(self) -> list[tuple[Input, Problem]]:
        """The inputs that could not be read, and why."""
        return [(item, item.error) for item in self.inputs if item.error]


def summary(report: Report) -> str:
    """What was found in what, in one line."""
    read = [item for item in report.inputs if item.error is None]
    unread = [item for item, _ in report.unread]
    failed = f"{_inputs(unread)} could not be checked" if unread else ""
    if not read:
        return failed or "nothing to check"
    controllers = sum(len(item.controllers) for item in read)
    brokers = sum(len(item.brokers) for item in read) - controllers
    nodes = [plural(count, name) for count, name in ((brokers, "broker"), (controllers, "controller")) if count]
    parts = [
        plural(count, severity.value)
        for severity in Severity
        if (count := sum(finding.severity is severity for finding in report.findings))
    ]
    line = f"{', '.join(parts) or 'no findings'} in {_inputs(read)}"
    if nodes:
        line += f" ({', '.join(nodes)})"
    suppressed = f"{len(report.suppressed)} suppressed" if report.suppressed else ""
    return "; ".join(filter(None, (line, suppressed, failed)))


def place_of_error(item: Input, root: str = "") -> str:
    """What the error of an input is about, in one line."""
    where = item.error.where if item.error else None
    return harmless(path_text(where or item.name, root))


def file_of_error(item: Input, root: str = "") -> tuple[str, int]:
    """The file that the error of an input is about and the line there, 1 where the error names none."""
    where = (item.error.where if item.error else None) or item.name
    match = _PLACE_OF_ERROR.fullmatch(where) if where != item.name else None
    if match is None:
        return harmless(path_text(where, root)), 1
    return harmless(path_text(match["path"], root)), max(1, int(match["line"]))


def limited(report: Report) -> Report:
    """The report with at most `MOST_OF_A_KIND` findings of one rule in one service of one file.

    The first are kept, of every severity, so that the exit status stays the same; a note counts those left out. So a
    list of thousands of wrong entries does not make a report of a hundred megabytes.
    """
    if len(report.findings) + len(report.suppressed) <= MOST_OF_A_KIND:
        return report
    counts: Counter[tuple[str, ...]] = Counter()
    kept = tuple(finding for finding in report.findings if _is_early(finding, counts))
    counts_of_suppressed: Counter[tuple[str, ...]] = Counter()
    suppressed = tuple(item for item in report.suppressed if _is_early(item.finding, counts_of_suppressed))
    if len(kept) + len(suppressed) == len(report.findings) + len(report.suppressed):
        return report
    notes = tuple(_left_out(kind, count) for kind, count in counts.items() if count > MOST_OF_A_KIND)
    return replace(report, findings=kept, suppressed=suppressed, notes=(*report.notes, *notes))


def _inputs(items: Sequence[Input]) -> str:
    kinds = {item.kind for item in items}
    return plural(len(items), kinds.pop() if len(kinds) == 1 else "input")


def _is_early(finding: Finding, counts: Counter[tuple[str, ...]]) -> bool:
    kind = (_where(finding.location), finding.service or "", finding.rule, finding.severity.value)
    counts[kind] += 1
    return counts[kind] <= MOST_OF_A_KIND


def _where(location: Location) -> str:
    match location:
        case FileLocation():
            return location.path
        case ContainerLocation():
            return location.container
        case WireLocation():
            return location.file
        case TopologyLocation():
            return location.place
        case _:
            assert_never(location)


def _left_out(kind: tuple[str, ...], count: int) -> str:
    where, service, rule, severity = map(harmless, kind)
    of = f" in {service}" if service else ""
    return f"{where}: {count} findings of {rule}{of} ({severity}), the first {MOST_OF_A_KIND} of them are shown"
