"""A report as SARIF 2.1.0, for code scanning: one run, its `results` always there."""

import json
from typing import Any

from netdiag import __version__
from netdiag.findings import Finding, Overlooked, Suppressed
from netdiag.render.fingerprints import fingerprints
from netdiag.render.places import in_order, plain
from netdiag.render.report import Input, Report, Skipped, place_of_error
from netdiag.render.sarif_places import Places
from netdiag.render.sarif_rules import descriptors

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# The version is part of the name: a fingerprint computed otherwise is another kind.
_FINGERPRINT = "netdiagFinding/v1"


def render(report: Report, root: str = "", pages: str | None = None) -> str:
    """The SARIF text, ASCII only; paths below the folder `root` are relative, `pages` is where rule pages are."""
    overlooked = {id(item.finding): item for item in report.suppressed}
    findings = in_order((*report.findings, *(item.finding for item in report.suppressed)))
    names = sorted({finding.rule for finding in findings})
    places = Places(report.sources, root)
    prints = fingerprints(findings, report.sources, root)
    run = {
        "tool": {
            "driver": {
                "name": "netdiag",
                "semanticVersion": __version__,
                "rules": descriptors(names, pages),
            }
        },
        "columnKind": "utf16CodeUnits",
        # Lines are counted as YAML counts them.
        "newlineSequences": ["\r\n", "\n", "\r"],
        "invocations": [_invocation(report, places, root)],
        "results": [
            _result(finding, names.index(finding.rule), key, places) | _suppressions(overlooked.get(id(finding)))
            for finding, key in zip(findings, prints, strict=True)
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(finding: Finding, index: int, fingerprint: str, places: Places) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity.value,
        "message": _message(_told(finding)),
        "locations": [places.location(finding.location)],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, **places.location(related.location), "message": _message(plain(related.message))}
            for number, related in enumerate(finding.related, 1)
        ]
    changes = places.changes(finding.edits) if finding.edits else []
    if changes and finding.applicability is not None:
        result["fixes"] = [
            {
                "description": _message(plain(finding.hint or "repair it")),
                "artifactChanges": changes,
                "properties": {"applicability": finding.applicability.value},
            },
        ]
    told = {"service": finding.service, "listener": finding.listener}
    properties = {name: plain(value) for name, value in told.items() if value}
    if properties:
        result["properties"] = properties
    return result


def _suppressions(item: Suppressed | None) -> dict[str, Any]:
    """Why a result needs nobody's attention (SARIF 3.27.23)."""
    if item is None:
        return {}
    suppression = {"kind": "inSource" if item.by is Overlooked.COMMENT else "external", "status": "accepted"}
    if item.reason:
        suppression["justification"] = plain(item.reason)
    return {"suppressions": [suppression]}


def _told(finding: Finding) -> str:
    """All that is known, as code scanning shows the message alone."""
    parts = [plain(finding.message)]
    if finding.why:
        parts.append(f"why: {plain(finding.why)}")
    if finding.broker_prints:
        parts.append(f"the broker will print: {plain(finding.broker_prints)}")
    if finding.hint:
        parts.append(f"fix: {plain(finding.hint)}")
    return "\n".join(parts)


def _invocation(report: Report, places: Places, root: str) -> dict[str, Any]:
    notifications = [_unread(item, places, root) for item in report.inputs if item.error]
    notifications += [_skipped(item) for item in report.skipped]
    notifications += [{"level": "note", "message": _message(plain(note))} for note in report.notes]
    invocation: dict[str, Any] = {
        "executionSuccessful": not report.interrupted and not any(item.error for item in report.inputs)
    }
    if notifications:
        invocation["toolExecutionNotifications"] = notifications
    return invocation


def _unread(item: Input, places: Places, root: str) -> dict[str, Any]:
    problem = item.error
    hint = f"\nfix: {plain(problem.hint)}" if problem and problem.hint else ""
    text = f"{place_of_error(item, root)}: could not be checked: {plain(problem.message) if problem else ''}{hint}"
    notification: dict[str, Any] = {"level": "error", "message": _message(text)}
    if item.kind == "file":
        notification["locations"] = [{"physicalLocation": {"artifactLocation": places.artifact(item.name)}}]
    return notification


def _skipped(item: Skipped) -> dict[str, Any]:
    command = f"\nrun: {plain(item.command)}" if item.command else ""
    text = f"not looked at: {plain(item.vantage)}: {plain(item.reason)}{command}"
    return {"level": "warning", "message": _message(text)}


def _message(text: str) -> dict[str, str]:
    r"""A message object; what would be read as a link (SARIF 3.11.6) is not one: `\[text](target)`."""
    return {"text": text.replace("[", "\\[") if "](" in text else text}
