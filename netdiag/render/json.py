"""A report as JSON, version 1: names, types and enumerations are a contract (`schema/check-listeners.v1.json`)."""

import json
from typing import Any, assert_never

from netdiag.deployment.observations import Answered
from netdiag.deployment.verdict import Cell, EndpointOutcome, Verdict
from netdiag.findings import ContainerLocation, FileLocation, Finding, Location, TopologyLocation, WireLocation
from netdiag.render.redact import redacted
from netdiag.render.report import Input, Matrix, Problem, Report, Skipped

VERSION = 1


def render(report: Report) -> str:
    """The JSON text, ASCII only, ending with a line feed; equal reports give equal bytes."""
    value = {
        "version": VERSION,
        "inputs": [_input(item, report) for item in report.inputs],
        "findings": [finding_value(finding) for finding in report.findings],
        "suppressed": [
            {
                "by": item.by.value,
                "reason": redacted(item.reason) or None,
                "finding": finding_value(item.finding),
            }
            for item in report.suppressed
        ],
        "matrix": [_cell(matrix, cell) for matrix in report.matrices for cell in matrix.cells],
        "skipped": [_skipped(item) for item in report.skipped],
        "notes": [redacted(note) for note in report.notes],
    }
    return json.dumps(sound(value), indent=2) + "\n"


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
    return {"message": redacted(problem.message), "where": problem.where, "hint": problem.hint}


def finding_value(finding: Finding) -> dict[str, Any]:
    """A finding as JSON, the same in every report; lone surrogates are the caller's to replace."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": redacted(finding.message),
        "why": redacted(finding.why) or None,
        "hint": redacted(finding.hint) or None,
        "location": _location(finding.location),
        "related": [
            {"location": _location(related.location), "message": redacted(related.message)}
            for related in finding.related
        ],
        "service": finding.service,
        "listener": finding.listener,
        "broker_prints": redacted(finding.broker_prints) if finding.broker_prints else None,
        "edits": [
            {
                "path": edit.path,
                "start": edit.start,
                "end": edit.end,
                "replacement": edit.replacement,
                "applicability": edit.applicability.value,
            }
            for edit in finding.edits
        ],
    }


def _location(location: Location) -> dict[str, Any]:
    match location:
        case FileLocation():
            return {
                "path": location.path,
                "line": location.line,
                "column": location.column,
                "end_line": location.end_line,
                "end_column": location.end_column,
            }
        case ContainerLocation():
            return {"container": location.container, "part": location.part}
        case WireLocation():
            return {
                "file": location.file,
                "packet": location.packet,
                "time": location.time,
                "client": location.client,
                "broker": location.broker,
            }
        case TopologyLocation():
            return {"place": location.place, "device": location.device, "part": location.part}
        case _:
            assert_never(location)


def _cell(matrix: Matrix, cell: Cell) -> dict[str, Any]:
    return {
        "input": matrix.input,
        "vantage": cell.vantage,
        "bootstrap": str(cell.bootstrap),
        "predicted": _verdict(cell.predicted),
        "observed": _verdict(cell.observed),
        "endpoints": _endpoints(cell),
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
    }


def _endpoints(cell: Cell) -> list[dict[str, Any]]:
    """What hop 2 met: the observed endpoints where somebody looked, else the predicted ones."""
    verdict = cell.observed or cell.predicted
    return [_endpoint(outcome) for outcome in verdict.endpoints] if verdict else []


def _endpoint(outcome: EndpointOutcome) -> dict[str, Any]:
    answered = outcome.contact if isinstance(outcome.contact, Answered) else None
    return {
        "node_id": outcome.endpoint.node_id,
        "host": outcome.endpoint.host,
        "port": outcome.endpoint.port,
        "outcome": outcome.outcome,
        "answered_by": answered.node_id if answered else None,
        "because": redacted(outcome.contact.because) or None,
    }


def _skipped(item: Skipped) -> dict[str, Any]:
    return {"vantage": item.vantage, "reason": item.reason, "command": item.command}


def sound(value: Any) -> Any:
    """The value with lone surrogates replaced: strict JSON readers refuse them."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [sound(item) for item in value]
    if isinstance(value, dict):
        return {key: sound(item) for key, item in value.items()}
    return value
