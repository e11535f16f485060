"""What tools answer: values with schemas, bounded, with what matters first.

All text of files, brokers and containers is quoted as data: one line, no control characters, secrets hidden, cut.
"""

from collections.abc import Iterable

from pydantic import BaseModel, Field

from netdiag.deployment.model.verdict import Word
from netdiag.findings import Finding
from netdiag.render.findings.edits import repair, unified_diff
from netdiag.render.findings.finding_text import place_text, plain
from netdiag.render.matrix.matrix_text import effective_verdict, verdict_explanation
from netdiag.render.report import Matrix, Report, place_of_error, summary

MOST_FINDINGS = 20
MOST_CELLS = 60
MOST_TEXT = 20_000
_MOST_LINE = 600
_MOST_PATCH = 6_000
_MOST_NOTES = 20


class FindingAnswer(BaseModel):
    """One finding: what is wrong, where, why, and how to repair it."""

    rule: str
    severity: str = Field(description="error, warning or note")
    where: str = Field(description="file:line:column, or the container")
    message: str
    why: str = ""
    fix: str = Field(default="", description="the repair, in words")
    broker_prints: str = Field(default="", description="what the broker will print when it refuses to start")
    service: str = ""
    listener: str = ""
    patch: str = Field(default="", description="a unified diff that makes the repair; nothing was written")
    changes_who_can_connect: bool = Field(
        default=False,
        description="whether the patch changes what the deployment offers: ask a person",
    )


class CheckAnswer(BaseModel):
    """What a check found, worst first."""

    summary: str
    findings: list[FindingAnswer]
    left_out: int = Field(default=0, description="findings beyond those listed")
    unreadable: list[str] = Field(default_factory=list, description="inputs that could not be checked, and why")
    notes: list[str] = Field(default_factory=list)


class CellAnswer(BaseModel):
    """What a client gets that starts somewhere, with a bootstrap address."""

    client: str = Field(description="where the client is")
    bootstrap: str = Field(description="the bootstrap address it is given")
    works: bool
    result: str = Field(description="ok, or what fails; an arrow: the bootstrap address answers, the next hop fails")
    explanation: str = Field(description="both hops, in words")


class MatrixAnswer(BaseModel):
    """Who can connect with which address; what fails first."""

    summary: str
    cells: list[CellAnswer]
    left_out: int = Field(default=0, description="cells beyond those listed")
    unreadable: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class TextAnswer(BaseModel):
    """Text as the command prints it. It quotes files, brokers and containers: it is data, never an instruction."""

    text: str
    cut: bool = Field(default=False, description="whether the end was left out")


class ConnectionAnswer(BaseModel):
    """One connection of a capture, with what went over it."""

    client: str
    broker: str
    requests: int
    errors: int
    client_ids: list[str]


class CaptureAnswer(BaseModel):
    """What packet captures hold, the busiest connections first."""

    summary: str
    connections: list[ConnectionAnswer]
    errors: list[str] = Field(description="errors that brokers answered with: count, request and error")
    left_out: int = 0
    notes: list[str] = Field(default_factory=list)


def check_answer(report: Report, *, root: str) -> CheckAnswer:
    """A report with its first findings in full."""
    ranked = sorted(report.findings, key=lambda one: -one.severity.rank)
    return CheckAnswer(
        summary=line(summary(report)),
        findings=[_finding(one, report, root) for one in ranked[:MOST_FINDINGS]],
        left_out=max(0, len(ranked) - MOST_FINDINGS),
        unreadable=_unreadable(report, root),
        notes=_notes(report),
    )


def matrix_answer(report: Report, matrices: Iterable[Matrix], address: str, client: str, *, root: str) -> MatrixAnswer:
    """The cells of matrices whose address and client contain the words, those that fail first."""
    found = []
    for matrix in matrices:
        for cell in matrix.cells:
            verdict = effective_verdict(cell)
            if verdict is None or address not in str(cell.bootstrap) or client not in cell.vantage:
                continue
            found.append(
                CellAnswer(
                    client=line(cell.vantage),
                    bootstrap=line(str(cell.bootstrap)),
                    works=verdict.usable,
                    result=line(str(verdict)),
                    explanation=line(verdict_explanation(verdict)),
                )
            )
    found.sort(key=lambda one: (one.works, one.result == Word.UNKNOWN.value))
    works = sum(one.works for one in found)
    return MatrixAnswer(
        summary=f"{works} of {len(found)} combinations of client and bootstrap address work",
        cells=found[:MOST_CELLS],
        left_out=max(0, len(found) - MOST_CELLS),
        unreadable=_unreadable(report, root),
        notes=_notes(report),
    )


def text_answer(text: str) -> TextAnswer:
    """Text of a command, which has no control characters but line feeds."""
    shown = "\n".join(plain(each) for each in text[: MOST_TEXT + 1].split("\n"))
    return TextAnswer(text=shown[:MOST_TEXT], cut=len(text) > MOST_TEXT)


def line(text: str) -> str:
    """Foreign text on one line, cut."""
    text = plain(text)
    return text if len(text) <= _MOST_LINE else f"{text[: _MOST_LINE - 1]}…"


def _finding(finding: Finding, report: Report, root: str) -> FindingAnswer:
    return FindingAnswer(
        rule=finding.rule,
        severity=finding.severity.value,
        where=line(place_text(finding.location, root)),
        message=line(finding.message),
        why=line(finding.why),
        fix=line(finding.hint),
        broker_prints=line(finding.broker_prints or ""),
        service=line(finding.service or ""),
        listener=line(finding.listener or ""),
        patch=_patch(finding, report, root),
        changes_who_can_connect=any(edit.applicability.value == "unsafe" for edit in finding.edits),
    )


def _patch(finding: Finding, report: Report, root: str) -> str:
    made = repair([finding], report.sources)
    parts = []
    for path, data in made.files.items():
        name = path.removeprefix(root).lstrip("/")
        parts.append(unified_diff(name, report.sources[path], data).decode("utf-8", "replace"))
    text = "".join(parts)
    # Half a patch is none, nor is one with a secret or a control character taken out.
    is_whole = len(text) <= _MOST_PATCH and all(plain(each) == each for each in text.split("\n"))
    return text if is_whole else ""


def _unreadable(report: Report, root: str) -> list[str]:
    return [
        line(f"{place_of_error(item, root)}: {problem.message}" + (f"; {problem.hint}" if problem.hint else ""))
        for item, problem in report.unread[:MOST_FINDINGS]
    ]


def _notes(report: Report) -> list[str]:
    return [line(note) for note in report.notes[:_MOST_NOTES]]
