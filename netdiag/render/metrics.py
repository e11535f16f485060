"""A live report as metrics: gauges for what works, state sets for what a cell gives; only of what was just seen.

A series is there as long as a report has what it tells of, so none goes stale. Numbers are bounded: cells beyond
`MOST_CELLS` are counted, not shown. A mechanism is a label of what fails, and not a state set as the states of cells
are: of more than fifty, a cell that works would have one series each.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from netdiag.deployment.model.causes import Causes, causes_of, contacts
from netdiag.deployment.model.verdict import Cell, Failed, Verdict, Word
from netdiag.findings import Finding
from netdiag.render.findings.finding_text import plain
from netdiag.render.matrix.matrix_text import effective_verdict
from netdiag.render.report import Report
from netdiag.values import dataclass

MOST_CELLS = 2_500
# Of all vantages together; an answer may name any number of brokers.
MOST_ADDRESSES = 10_000
# A label is a name; what is longer is nobody's.
_LONGEST_LABEL = 200
_OK = "ok"


class Kind(Enum):
    """The types of OpenMetrics that are used."""

    GAUGE = "gauge"
    COUNTER = "counter"
    STATE_SET = "state set"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A value; of a state set, the state that holds."""

    labels: Mapping[str, str]
    value: float = 1
    state: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric family; `states` are all that a state set knows."""

    name: str
    help: str
    kind: Kind
    labels: tuple[str, ...] = ()
    samples: tuple[Sample, ...] = ()
    states: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A cell with its labels, and why contacts of its matrix fail."""

    where: Mapping[str, str]
    cell: Cell
    verdict: Verdict
    causes: Causes


def metrics(report: Report, *, rounds: int, seconds: float, ended: float) -> tuple[Metric, ...]:
    """The metrics of a look. It took `seconds`, was over at `ended` (seconds since 1970), and was the `rounds`th."""
    every = [
        _Row(
            where=_labels(input=matrix.input, vantage=cell.vantage, bootstrap=str(cell.bootstrap)),
            cell=cell,
            verdict=verdict,
            causes=causes,
        )
        for matrix in report.matrices
        for causes in (causes_of(matrix.cells, matrix.causes),)
        for cell in matrix.cells
        if (verdict := effective_verdict(cell)) is not None
    ]
    rows = every[:MOST_CELLS]
    place = ("input", "vantage", "bootstrap")
    return (
        Metric(
            name="netdiag_cell_usable",
            help="Whether a client works from a vantage with a bootstrap address: 1, 0, or nothing where unknown",
            kind=Kind.GAUGE,
            labels=place,
            samples=tuple(
                Sample(labels=row.where, value=row.verdict.usable)
                for row in rows
                if row.verdict.word is not Word.UNKNOWN
            ),
        ),
        Metric(
            name="netdiag_cell_state",
            help="What a client gets from a vantage with a bootstrap address",
            kind=Kind.STATE_SET,
            labels=place,
            samples=tuple(Sample(labels=row.where, state=row.verdict.word.value) for row in rows),
            states=tuple(word.value for word in Word),
        ),
        Metric(
            name="netdiag_probe_seconds",
            help="How long the contact with the bootstrap address took, second tries included",
            kind=Kind.GAUGE,
            labels=place,
            samples=tuple(
                Sample(labels=row.where, value=row.cell.seconds) for row in rows if row.cell.seconds is not None
            ),
        ),
        Metric(
            name="netdiag_failure",
            help="An address that a vantage cannot use, bootstrap or advertised, with the likeliest cause",
            kind=Kind.GAUGE,
            labels=("input", "vantage", "address", "mechanism"),
            samples=tuple(_failures(rows)),
        ),
        Metric(
            name="netdiag_broker_usable",
            help="Whether the address that a broker advertises to a vantage leads to that broker from there",
            kind=Kind.GAUGE,
            labels=("input", "vantage", "broker", "advertised"),
            samples=tuple(_brokers(rows)),
        ),
        Metric(
            name="netdiag_findings",
            help="Findings, by rule and severity",
            kind=Kind.GAUGE,
            labels=("rule", "severity"),
            samples=tuple(_findings(report.findings)),
        ),
        Metric(
            name="netdiag_inputs_unread",
            help="Inputs that could not be looked at",
            kind=Kind.GAUGE,
            samples=(Sample(labels={}, value=len(report.unread)),),
        ),
        Metric(
            name="netdiag_cells_left_out",
            help=f"Cells beyond the first {MOST_CELLS}, which have no series",
            kind=Kind.GAUGE,
            samples=(Sample(labels={}, value=len(every) - len(rows)),),
        ),
        Metric(
            name="netdiag_look_seconds",
            help="How long the last look took",
            kind=Kind.GAUGE,
            samples=(Sample(labels={}, value=seconds),),
        ),
        Metric(
            name="netdiag_look_timestamp_seconds",
            help="When the last look was over, in seconds since 1970",
            kind=Kind.GAUGE,
            samples=(Sample(labels={}, value=ended),),
        ),
        Metric(
            name="netdiag_looks",
            help="Looks since netdiag started",
            kind=Kind.COUNTER,
            samples=(Sample(labels={}, value=rounds),),
        ),
    )


def _brokers(rows: Iterable[_Row]) -> Iterator[Sample]:
    """Each address that is advertised to a vantage, once: whichever bootstrap address leads there, if any fails."""
    found: dict[tuple[str, str, str, str], bool] = {}
    for row in rows:
        for one in row.verdict.endpoints:
            if one.outcome != Word.UNKNOWN.value:
                key = (row.where["input"], row.where["vantage"], str(one.endpoint.node_id), str(one.endpoint.address))
                if key in found or len(found) < MOST_ADDRESSES:
                    found[key] = found.get(key, True) and one.outcome == _OK
    for (item, vantage, broker, advertised), usable in found.items():
        yield Sample(labels=_labels(input=item, vantage=vantage, broker=broker, advertised=advertised), value=usable)


def _failures(rows: Iterable[_Row]) -> Iterator[Sample]:
    """Each address that a vantage cannot use, once, with its likeliest cause."""
    found: dict[tuple[str, str, str], str] = {}
    for row in rows:
        for address, contact in contacts(row.cell.bootstrap, row.verdict):
            if isinstance(contact, Failed):
                cause = row.causes.get((row.cell.vantage, address))
                word = contact.reason if cause is None else cause.mechanism
                key = (row.where["input"], row.where["vantage"], str(address))
                if key in found or len(found) < MOST_ADDRESSES:
                    found[key] = word.value
    for (item, vantage, failing), mechanism in found.items():
        yield Sample(labels=_labels(input=item, vantage=vantage, address=failing, mechanism=mechanism))


def _findings(findings: Iterable[Finding]) -> Iterator[Sample]:
    counts = Counter((finding.rule, finding.severity.value) for finding in findings)
    for (rule, severity), count in sorted(counts.items()):
        yield Sample(labels={"rule": rule, "severity": severity}, value=count)


def _labels(**values: str) -> dict[str, str]:
    return {name: plain(value)[:_LONGEST_LABEL] for name, value in values.items()}
