"""A report as SARIF 2.1.0, for code scanning: one run, its `results` always there."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never

from netdiag import __version__
from netdiag.compose.positions import Source
from netdiag.findings import (
    ContainerLocation,
    Edit,
    FileLocation,
    Finding,
    Location,
    Overlooked,
    Suppressed,
    TopologyLocation,
    WireLocation,
)
from netdiag.render.findings.finding_text import (
    SourceLines,
    container_text,
    harmless,
    in_order,
    message_lines,
    plain,
    topology_text,
    uri,
    wire_text,
)
from netdiag.render.findings.fingerprints import fingerprints
from netdiag.render.json_values import sound
from netdiag.render.report import Input, Problem, Report, Skipped, place_of_error
from netdiag.render.rule_pages import rule_markdown
from netdiag.rules.all_rules import ALL
from netdiag.rules.rule import Rule, RulePage, rule_page
from netdiag.rules.selection import WITHOUT_RULE

# Where relative URIs start; whoever reads the file knows it, usually as the root of the repository.
ROOT_ID = "%SRCROOT%"
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
                "rules": rule_descriptors(names, pages),
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


class Places:
    """The places of one report, computed with the bytes of its files."""

    def __init__(self, sources: Mapping[str, bytes], root: str) -> None:
        self._lines = SourceLines(sources)
        self._bytes = sources
        self._sources: dict[str, Source] = {}
        self._root = root

    def location(self, location: Location) -> dict[str, Any]:
        """A location object (SARIF 3.28): a region of a file, or the name of a container."""
        match location:
            case FileLocation():
                place = (location.line, location.column, location.end_line, location.end_column)
                return {
                    "physicalLocation": {
                        "artifactLocation": self.artifact(location.path),
                        "region": self._region(location.path, *place),
                    }
                }
            case ContainerLocation():
                return {
                    "logicalLocations": [
                        {
                            "name": harmless(location.part or location.container),
                            "fullyQualifiedName": container_text(location),
                            "kind": "resource",
                        }
                    ]
                }
            case TopologyLocation():
                return {
                    "logicalLocations": [
                        {
                            "name": harmless(location.device or location.place),
                            "fullyQualifiedName": topology_text(location),
                            "kind": "resource",
                        }
                    ]
                }
            case WireLocation():
                # A capture has packets, not lines: which one is told in words (region.byteOffset would be a guess).
                return {
                    "physicalLocation": {"artifactLocation": self.artifact(location.file)},
                    "message": {"text": wire_text(location)},
                }
            case _:
                assert_never(location)

    def artifact(self, path: str) -> dict[str, Any]:
        """An artifactLocation object (SARIF 3.4)."""
        reference = uri(path, self._root)
        if reference.startswith("file://"):
            return {"uri": reference}
        return {"uri": reference, "uriBaseId": ROOT_ID}

    def changes(self, edits: Sequence[Edit]) -> list[dict[str, Any]]:
        """The artifactChange objects (SARIF 3.56) of a repair; none where a file is not at hand to count in."""
        if not all(e.path in self._bytes and 0 <= e.start <= e.end <= len(self._bytes[e.path]) for e in edits):
            return []
        by_path: dict[str, list[Edit]] = {}
        for edit in sorted(edits, key=lambda e: (e.path, e.start, e.end, e.replacement)):
            by_path.setdefault(edit.path, []).append(edit)
        return [
            {"artifactLocation": self.artifact(path), "replacements": [self._replacement(edit) for edit in here]}
            for path, here in by_path.items()
        ]

    def _replacement(self, edit: Edit) -> dict[str, Any]:
        source = self._sources.setdefault(edit.path, Source(edit.path, self._bytes[edit.path]))
        place = (*source.place(edit.start), *source.place(edit.end))
        replacement: dict[str, Any] = {"deletedRegion": self._region(edit.path, *place)}
        if edit.replacement:
            replacement["insertedContent"] = {"text": sound(edit.replacement)}
        return replacement

    def _region(self, path: str, line: int, column: int, end_line: int, end_column: int) -> dict[str, int]:
        """A region (SARIF 3.30) that is never empty of meaning: from 1, the end not before the start."""
        line, column = max(1, line), max(1, column)
        end_line, end_column = max((line, column), (end_line, max(1, end_column)))
        return {
            "startLine": line,
            "startColumn": self._units(path, line, column),
            "endLine": end_line,
            "endColumn": self._units(path, end_line, end_column),
        }

    def _units(self, path: str, line: int, column: int) -> int:
        """A column counted in UTF-16 code units: a character beyond the first 65536 counts as two."""
        lines = self._lines.lines(path)
        before = lines[line - 1][: column - 1] if line <= len(lines) else ""
        return column if before.isascii() else column + sum(ord(character) > 0xFFFF for character in before)


def _result(finding: Finding, index: int, fingerprint: str, places: Places) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity.value,
        "message": _message("\n".join(message_lines(finding))),
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


def _invocation(report: Report, places: Places, root: str) -> dict[str, Any]:
    notifications = [_unread(item, problem, places, root) for item, problem in report.unread]
    notifications += [_skipped(item) for item in report.skipped]
    notifications += [{"level": "note", "message": _message(plain(note))} for note in report.notes]
    invocation: dict[str, Any] = {"executionSuccessful": not report.interrupted and not report.unread}
    if notifications:
        invocation["toolExecutionNotifications"] = notifications
    return invocation


def _unread(item: Input, problem: Problem, places: Places, root: str) -> dict[str, Any]:
    hint = f"\nfix: {plain(problem.hint)}" if problem.hint else ""
    text = f"{place_of_error(item, root)}: could not be checked: {plain(problem.message)}{hint}"
    notification: dict[str, Any] = {"level": "error", "message": _message(text)}
    if item.kind == "file":
        notification["locations"] = [{"physicalLocation": {"artifactLocation": places.artifact(item.name)}}]
    return notification


def _skipped(item: Skipped) -> dict[str, Any]:
    command = f"\nrun: {plain(item.command)}" if item.command else ""
    text = f"not checked: {plain(item.vantage)}: {plain(item.reason)}{command}"
    return {"level": "warning", "message": _message(text)}


def _message(text: str) -> dict[str, str]:
    r"""A message object; what would be read as a link (SARIF 3.11.6) is not one: `\[text](target)`."""
    return {"text": text.replace("[", "\\[") if "](" in text else text}


def rule_descriptors(names: Iterable[str], pages: str | None = None) -> list[dict[str, Any]]:
    """The reportingDescriptor objects (SARIF 3.49) of these rules; `pages` is the address of the rule pages."""
    known = {rule.ID: rule for rule in ALL}
    return [_rule_descriptor(known[name], pages) if name in known else _bare_descriptor(name) for name in names]


def _rule_descriptor(rule: Rule, pages: str | None) -> dict[str, Any]:
    page = rule_page(rule.__doc__ or "")
    descriptor: dict[str, Any] = {
        "id": rule.ID,
        "name": "".join(word.capitalize() for word in re.split(r"[^a-z0-9]", rule.ID)),
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": " ".join(page.why.split())},
        "help": {"text": _help_text(page), "markdown": rule_markdown(page) + "\n"},
        "defaultConfiguration": {"level": rule.SEVERITY.value},
        "properties": {
            "tags": ["kafka", "docker", "listeners"],
            "problem.severity": _problem_severity(rule.SEVERITY.value),
        },
    }
    if pages:
        descriptor["helpUri"] = f"{pages.rstrip('/')}/{rule.ID}.md"
    return descriptor


def _bare_descriptor(name: str) -> dict[str, Any]:
    text = WITHOUT_RULE.get(name)
    return {"id": name, "shortDescription": {"text": text}} if text else {"id": name}


def _help_text(page: RulePage) -> str:
    return (
        f"{page.title}\n\nWhy: {page.why}\n\nBad:\n{page.bad}\nGood:\n{page.good}\n"
        f"Seen: {page.seen}\n\nSources: {page.sources}\n"
    )


def _problem_severity(level: str) -> str:
    """GitHub's code scanning calls the mildest level a recommendation."""
    return "recommendation" if level == "note" else level
