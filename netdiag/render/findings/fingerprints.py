"""Fingerprints of findings, and the baseline: the file of those that are known already.

A fingerprint is what stays of a finding when lines move: who says it, of which file and service, about which text.
Messages are not part of it, as their wording is no contract, and secrets on the line are hidden before it is hashed.
A baseline holds an entry for each finding: its fingerprint with what people need to recognise it. So it survives edits
elsewhere in the file and new wordings of a rule.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, assert_never

from netdiag.errors import UsageError
from netdiag.findings import ContainerLocation, FileLocation, Finding, Severity, TopologyLocation, WireLocation
from netdiag.patterns import regex
from netdiag.render.findings.finding_text import SourceLines, in_order, path_text
from netdiag.render.redact import HIDDEN, secret_spans

BASELINE_VERSION = 1
STALE_BASELINE = "stale-baseline"
_STRING = regex(rb'"([^"\\]*)"')
_LONGEST = 10_000
_FIELDS = ("path", "rule", "service", "fingerprint")


def fingerprints(findings: Sequence[Finding], sources: Mapping[str, bytes], root: str = "") -> list[str]:
    """One hexadecimal text per finding, no two alike; what is equal otherwise is counted in the order given."""
    lines = _Lines(sources)
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for finding in findings:
        essence = (finding.rule, *_place_parts(finding, lines, root), finding.service or "", finding.listener or "")
        found.append(digest(*essence, str(seen[essence])))
        seen[essence] += 1
    return found


def digest(*parts: str) -> str:
    """A hash of texts, whatever they hold."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:40]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class BaselineEntry:
    """One known finding; `path` is relative to the folder of the baseline and empty for what is in no file."""

    path: str
    rule: str
    service: str
    fingerprint: str


def baseline_entries(
    findings: Iterable[Finding], sources: Mapping[str, bytes], home: Callable[[str], str]
) -> list[tuple[Finding, BaselineEntry]]:
    """Each finding with its entry; `home` gives a path as seen from the folder of the baseline."""
    ordered = in_order(findings)
    there = {home(path): data for path, data in sources.items()}
    prints = fingerprints([_moved(finding, home) for finding in ordered], there)
    return [
        (
            finding,
            BaselineEntry(
                path=home(finding.location.path) if isinstance(finding.location, FileLocation) else "",
                rule=finding.rule,
                service=finding.service or "",
                fingerprint=fingerprint,
            ),
        )
        for finding, fingerprint in zip(ordered, prints, strict=True)
    ]


def render_baseline(entries: Iterable[BaselineEntry]) -> str:
    """The file: sorted, an entry to a line, ASCII only; equal findings give equal bytes."""
    lines = [json.dumps(asdict(entry)) for entry in sorted(entries)]
    body = "".join(f"\n    {line}{',' if number < len(lines) else ''}" for number, line in enumerate(lines, 1))
    return f'{{\n  "version": {BASELINE_VERSION},\n  "findings": [{body}{chr(10) + "  " if lines else ""}]\n}}\n'


def parse_baseline(path: str, data: bytes) -> tuple[BaselineEntry, ...]:
    """The entries of a baseline; UsageError where it is none."""
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UsageError(
            "not a baseline: not JSON", where=path + line, hint="write it with --write-baseline"
        ) from error
    if not isinstance(value, dict) or not isinstance(value.get("findings"), list):
        raise UsageError("not a baseline", where=path, hint="write it with --write-baseline")
    if value.get("version") != BASELINE_VERSION:
        raise UsageError("the baseline has another version", where=path, hint="write it again with --write-baseline")
    return tuple(_entry(item, path) for item in value["findings"])


def unmatched_entries(entries: Sequence[BaselineEntry], found: Iterable[BaselineEntry]) -> list[BaselineEntry]:
    """The entries whose finding is not among those found."""
    here = {entry.fingerprint for entry in found}
    return [entry for entry in entries if entry.fingerprint not in here]


def stale_entries(
    path: str, data: bytes, entries: Iterable[BaselineEntry], looked_for: Callable[[BaselineEntry], bool]
) -> tuple[Finding, ...]:
    """A note for every entry that was looked for; `entries` are those that match nothing."""
    places = _Places(path, data)
    return tuple(
        Finding(
            rule=STALE_BASELINE,
            severity=Severity.NOTE,
            message=f"{entry.rule} no longer occurs in {entry.path}" + (f" ({entry.service})" if entry.service else ""),
            location=places.find(entry.fingerprint),
            why="an entry that matches no finding hides the same defect if it comes back",
            hint="write the baseline again",
        )
        for entry in entries
        if looked_for(entry)
    )


class _Lines:
    """The lines of files as they are hashed, each made once: thousands of findings may stand on one long line."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = SourceLines(sources)
        self._shown: dict[tuple[str, int], str] = {}

    def shown(self, path: str, index: int) -> str:
        """A line without its indentation and its secrets; empty outside the file."""
        if (path, index) not in self._shown:
            self._shown[path, index] = _shown_line(self._sources.lines(path), index)
        return self._shown[path, index]


def _place_parts(finding: Finding, lines: _Lines, root: str) -> tuple[str, ...]:
    match finding.location:
        case FileLocation(path=path, line=line):
            return ("file", path_text(path, root), lines.shown(path, line - 1))
        case ContainerLocation(container=container, part=part):
            return ("container", container, part)
        case WireLocation(client=client, broker=broker):
            # Packets, times and the client's port differ from capture to capture.
            return ("wire", client.rpartition(":")[0], broker)
        case TopologyLocation(place=place, device=device, part=part):
            return ("topology", place, device, part)
        case _:
            assert_never(finding.location)


def _shown_line(lines: Sequence[str], index: int) -> str:
    if not 0 <= index < len(lines):
        return ""
    line = lines[index]
    for start, end in reversed(secret_spans(lines, index)):
        line = line[:start] + HIDDEN + line[end:]
    return " ".join(line.split())


def _moved(finding: Finding, home: Callable[[str], str]) -> Finding:
    place = finding.location
    return (
        replace(finding, location=replace(place, path=home(place.path))) if isinstance(place, FileLocation) else finding
    )


def _entry(item: Any, path: str) -> BaselineEntry:
    if not isinstance(item, dict) or not all(isinstance(item.get(name), str) for name in _FIELDS):
        raise UsageError("not a baseline: an entry lacks a field", where=path, hint="write it with --write-baseline")
    return BaselineEntry(**{name: item[name] for name in _FIELDS})


class _Places:
    """Where fingerprints stand in a baseline; the file is gone through once, however many are asked for."""

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._data = data
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
        self._found: dict[bytes, int] = {}
        for match in _STRING.finditer(data):
            self._found.setdefault(match[1], match.start(1))

    def find(self, fingerprint: str) -> FileLocation:
        """Its place; the beginning of the file where it is written with escapes."""
        wanted = fingerprint.encode("utf-8", "surrogatepass")
        start = self._found.get(wanted, 0)
        line = bisect_right(self._starts, start)
        # What is written for us holds an entry on a line; of a longer line only so much is decoded.
        before = self._data[max(self._starts[line - 1], start - _LONGEST) : start]
        column = start - self._starts[line - 1] - len(before) + len(before.decode("utf-8", "replace")) + 1
        return FileLocation(
            path=self._path,
            line=line,
            column=column,
            end_line=line,
            end_column=column + len(fingerprint),
            start=start,
            end=start + len(wanted),
        )
