"""A report as JSON, version 1: names, types and enumerations are a contract (`schema/check-listeners.v1.json`)."""

from collections.abc import Iterator
from typing import Any

from netdiag.deployment.model.verdict import (
    Answered,
    Cell,
    Contact,
    EndpointOutcome,
    Failed,
    Mechanism,
    NameChoice,
    Verdict,
    Word,
)
from netdiag.findings import FileLocation, Finding, Severity
from netdiag.patterns import regex
from netdiag.render.json_values import finding_value, indented
from netdiag.render.matrix.sections import edge_value, explained_value, security_value
from netdiag.render.matrix.urls import url_value
from netdiag.render.redact import redacted
from netdiag.render.registry import cluster_value
from netdiag.render.report import Input, Matrix, Problem, Report, Skipped

VERSION = 1
_WHERE = regex(r"(?P<path>.+?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?")


def render(report: Report) -> str:
    """The JSON text, ASCII only, ending with a line feed; equal reports give equal bytes."""
    value = {
        "version": VERSION,
        "inputs": [_input(item, report) for item in report.inputs],
        "findings": [finding_value(finding) for finding in (*report.findings, *_unreadable(report))],
        "suppressed": [
            {
                "by": item.by.value,
                "reason": redacted(item.reason) or None,
                "finding": finding_value(item.finding),
            }
            for item in report.suppressed
        ],
        "matrix": [_cell(matrix, cell) for matrix in report.matrices for cell in matrix.cells],
        "mesh": [
            edge_value(matrix.input, edge) for matrix in report.matrices if matrix.mesh for edge in matrix.mesh.edges
        ],
        "urls": [url_value(row) for row in report.urls],
        "security": [security_value(seen) for seen in report.security],
        "registered": [{"input": seen.input, **cluster_value(seen.cluster)} for seen in report.registered],
        "causes": [explained_value(matrix.input, one) for matrix in report.matrices for one in matrix.causes],
        "skipped": [_skipped(item) for item in report.skipped],
        "notes": [redacted(note) for note in report.notes],
    }
    return indented(value) + "\n"


def _unreadable(report: Report) -> Iterator[Finding]:
    """A finding for every file that could not be read: programs look at findings alone."""
    for item, problem in report.unread:
        if item.kind == "file" and not report.interrupted:
            place = _WHERE.fullmatch(problem.where or "")
            path, line = (place["path"], int(place["line"])) if place else (problem.where or item.name, 1)
            column = int(place["column"] or 1) if place else 1
            yield Finding(
                rule="compose-syntax",
                severity=Severity.ERROR,
                message=problem.message,
                hint=problem.hint or "",
                location=FileLocation(
                    path=path, line=line, column=column, end_line=line, end_column=column, start=0, end=0
                ),
            )


def _input(item: Input, report: Report) -> dict[str, Any]:
    stopped = [pair for matrix in report.matrices if matrix.input == item.name for pair in matrix.not_running.items()]
    return {
        "path": item.name,
        "brokers": list(item.brokers),
        "not_running": [{"broker": broker, "reason": redacted(reason) or None} for broker, reason in stopped],
        "also_read": list(item.also_read),
        "error": _problem(item.error) if item.error else None,
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {"message": redacted(problem.message), "where": problem.where, "hint": redacted(problem.hint or "") or None}


def _cell(matrix: Matrix, cell: Cell) -> dict[str, Any]:
    return {
        "input": matrix.input,
        "vantage": cell.vantage,
        "bootstrap": str(cell.bootstrap),
        "predicted": _verdict(cell.predicted),
        "observed": _verdict(cell.observed),
        "endpoints": _endpoints(cell),
        "names": _names(cell),
        "agrees": cell.agrees,
    }


def _verdict(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {
        "verdict": verdict.word.value,
        "reason": verdict.reason,
        "reached": verdict.reached,
        "advertised": verdict.advertised,
        "because": redacted(verdict.bootstrap.because) or None,
        "mechanism": _mechanism(verdict.bootstrap),
    }


def _names(cell: Cell) -> list[dict[str, Any]]:
    verdict = cell.observed or cell.predicted
    return [_name(choice) for choice in verdict.choices] if verdict else []


def _name(choice: NameChoice) -> dict[str, Any]:
    return {
        "name": choice.name,
        "addresses": [{"container": m.member or None, "ip": m.ip, "refuses": m.refuses} for m in choice.meetings],
        "librdkafka": list(choice.members),
        "resolver_order": list(choice.first_met),
        "because": choice.because,
    }


def _endpoints(cell: Cell) -> list[dict[str, Any]]:
    """What hop 2 met: the observed endpoints where somebody looked, else the predicted ones."""
    verdict = cell.observed or cell.predicted
    return [_endpoint(outcome) for outcome in verdict.endpoints] if verdict else []


def _endpoint(outcome: EndpointOutcome) -> dict[str, Any]:
    answered = outcome.contact if isinstance(outcome.contact, Answered) else None
    wrong = outcome.outcome == Word.WRONG_BROKER.value
    return {
        "node_id": outcome.endpoint.node_id,
        "host": outcome.endpoint.host,
        "port": outcome.endpoint.port,
        "outcome": outcome.outcome,
        "answered_by": answered.node_id if answered else None,
        "because": redacted(outcome.contact.because) or None,
        "mechanism": Mechanism.WRONG_BROKER.value if wrong else _mechanism(outcome.contact),
    }


def _mechanism(contact: Contact) -> str | None:
    """What a failure is put down to; None for one that nobody could explain."""
    return contact.mechanism.value if isinstance(contact, Failed) and contact.mechanism else None


def _skipped(item: Skipped) -> dict[str, Any]:
    return {"vantage": item.vantage, "reason": item.reason, "command": item.command}
