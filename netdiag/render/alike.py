"""Findings that tell the same of several things, to be drawn once."""

import re
from collections.abc import Sequence

from netdiag.findings import FileLocation, Finding, TopologyLocation

_DIGITS = re.compile(r"\d+")


def alike(findings: Sequence[Finding], *, full: bool = False) -> list[list[Finding]]:
    """Findings that differ in names and numbers only, together at the place of the first; `full` keeps them apart."""
    groups: dict[object, list[Finding]] = {}
    for index, finding in enumerate(findings):
        groups.setdefault(index if full else _sense(finding), []).append(finding)
    return list(groups.values())


def _sense(finding: Finding) -> tuple[object, ...]:
    texts = (finding.message, finding.why, finding.hint, finding.broker_prints or "")
    names = (finding.service, *_named(finding))
    told = tuple(_DIGITS.sub("#", _without(text, names)) for text in texts)
    path = finding.location.path if isinstance(finding.location, FileLocation) else ""
    return (finding.rule, finding.severity, path, told, len(finding.related))


def _named(finding: Finding) -> tuple[str, ...]:
    """What a finding about a network calls its own."""
    if isinstance(finding.location, TopologyLocation):
        return (finding.location.part, finding.location.device, finding.location.place)
    return ()


def _without(text: str, names: Sequence[str | None]) -> str:
    for name in names:
        text = text.replace(name, "@") if name else text
    return text
