"""Values that every JSON document of netdiag writes alike: a finding, and text that strict readers accept."""

import json
from json.encoder import encode_basestring_ascii
from typing import Any, assert_never

from netdiag.findings import ContainerLocation, FileLocation, Finding, Location, TopologyLocation, WireLocation
from netdiag.patterns import regex
from netdiag.render.redact import redacted

# Maybe a lone one, as the encoder spells it: strict readers refuse it.
SURROGATE = regex(r"\\ud[89a-f]")
_SEVERAL = (dict, list, tuple)


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


def indented(value: Any) -> str:
    """The value as `json.dumps(sound(value), indent=2)` writes it, whose encoder in C does not indent."""
    text = _indented(value, "\n  ", {})
    return _indented(sound(value), "\n  ", {}) if SURROGATE.search(text) else text


def _indented(value: Any, line: str, encoders: dict[str, json.JSONEncoder]) -> str:
    """`line` begins the lines of what the value holds; `encoders`, by that, are for what holds nothing deeper."""
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if not isinstance(value, _SEVERAL) or not value:
        return json.dumps(value)
    if not any(isinstance(item, _SEVERAL) for item in (value.values() if isinstance(value, dict) else value)):
        if line not in encoders:
            encoders[line] = json.JSONEncoder(separators=("," + line, ": "))
        inside = encoders[line].encode(value)[1:-1]
    elif isinstance(value, dict):
        deeper = line + "  "
        entries = [
            f"{encode_basestring_ascii(key)}: {_indented(item, deeper, encoders)}" for key, item in value.items()
        ]
        inside = ("," + line).join(entries)
    else:
        inside = ("," + line).join([_indented(item, line + "  ", encoders) for item in value])
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}{line}{inside}{line[:-2]}{end}"


def sound(value: Any) -> Any:
    """The value with lone surrogates replaced: strict JSON readers refuse them."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [sound(item) for item in value]
    if isinstance(value, dict):
        return {key: sound(item) for key, item in value.items()}
    return value
