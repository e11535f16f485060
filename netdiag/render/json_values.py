"""Values that every JSON document of netdiag writes alike: a finding, and text that strict readers accept."""

from typing import Any, assert_never

from netdiag.findings import ContainerLocation, FileLocation, Finding, Location, TopologyLocation, WireLocation
from netdiag.render.redact import redacted


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


def sound(value: Any) -> Any:
    """The value with lone surrogates replaced: strict JSON readers refuse them."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [sound(item) for item in value]
    if isinstance(value, dict):
        return {key: sound(item) for key, item in value.items()}
    return value
