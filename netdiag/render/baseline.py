"""The findings that are known already, as a file: written, read again, and compared with what is found now.

An entry is the fingerprint of a finding with what people need to recognise it. Line numbers and messages are no part
of it, so it survives edits elsewhere in the file and new wordings of a rule.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from netdiag.errors import UsageError
from netdiag.findings import FileLocation, Finding, Severity
from netdiag.render.fingerprints import fingerprints
from netdiag.render.places import in_order

VERSION = 1
STALE = "stale-baseline"
_STRING = re.compile(rb'"([^"\\]*)"')
_LONGEST = 10_000
_FIELDS = ("path", "rule", "service", "fingerprint")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Entry:
    """One known finding; `path` is relative to the folder of the baseline and empty for what is in no file."""

    path: str
    rule: str
    service: str
    fingerprint: str


def entries_of(
    findings: Iterable[Finding], sources: Mapping[str, bytes], home: Callable[[str], str]
) -> list[tuple[Finding, Entry]]:
    """Each finding with its entry; `home` gives a path as seen from the folder of the baseline."""
    ordered = in_order(findings)
    there = {home(path): data for path, data in sources.items()}
    prints = fingerprints([_moved(finding, home) for finding in ordered], there)
    return [
        (
            finding,
            Entry(
                path=home(finding.location.path) if isinstance(finding.location, FileLocation) else "",
                rule=finding.rule,
                service=finding.service or "",
                fingerprint=fingerprint,
            ),
        )
        for finding, fingerprint in zip(ordered, prints, strict=True)
    ]


def render(entries: Iterable[Entry]) -> str:
    """The file: sorted, an entry to a line, ASCII only; equal findings give equal bytes."""
    lines = [json.dumps({name: getattr(entry, name) for name in _FIELDS}) for entry in sorted(entries)]
    body = "".join(f"\n    {line}{',' if number < len(lines) else ''}" for number, line in enumerate(lines, 1))
    return f'{{\n  "version": {VERSION},\n  "findings": [{body}{chr(10) + "  " if lines else ""}]\n}}\n'


def parse(path: str, data: bytes) -> tuple[Entry, ...]:
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
    if value.get("version") != VERSION:
        raise UsageError("the baseline has another version", where=path, hint="write it again with --write-baseline")
    return tuple(_entry(item, path) for item in value["findings"])


def stale(path: str, data: bytes, entries: Iterable[Entry], looked_for: Callable[[Entry], bool]) -> tuple[Finding, ...]:
    """A note for every entry that was looked for; `entries` are those that match nothing."""
    places = _Places(path, data)
    return tuple(
        Finding(
            rule=STALE,
            severity=Severity.NOTE,
            message=f"{entry.rule} no longer occurs in {entry.path}" + (f" ({entry.service})" if entry.service else ""),
            location=places.of(entry.fingerprint),
            why="an entry that matches no finding hides the same defect if it comes back",
            hint="write the baseline again",
        )
        for entry in entries
        if looked_for(entry)
    )


def _moved(finding: Finding, home: Callable[[str], str]) -> Finding:
    place = finding.location
    return (
        replace(finding, location=replace(place, path=home(place.path))) if isinstance(place, FileLocation) else finding
    )


def _entry(item: Any, path: str) -> Entry:
    if not isinstance(item, dict) or not all(isinstance(item.get(name), str) for name in _FIELDS):
        raise UsageError("not a baseline: an entry lacks a field", where=path, hint="write it with --write-baseline")
    return Entry(**{name: item[name] for name in _FIELDS})


class _Places:
    """Where fingerprints stand in a baseline; the file is gone through once, however many are asked for."""

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._data = data
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
        self._found: dict[bytes, int] = {}
        for match in _STRING.finditer(data):
            self._found.setdefault(match[1], match.start(1))

    def of(self, fingerprint: str) -> FileLocation:
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


def unmatched(entries: Sequence[Entry], found: Iterable[Entry]) -> list[Entry]:
    """The entries whose finding is not among those found."""
    here = {entry.fingerprint for entry in found}
    return [entry for entry in entries if entry.fingerprint not in here]
