"""What stays of a finding when lines move: who says it, of which file and service, about which text.

Messages are no part of it: their wording is no contract. Secrets on the line are hidden before it is hashed.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import assert_never

from netdiag.findings import ContainerLocation, FileLocation, Finding, TopologyLocation, WireLocation
from netdiag.render.finding_text import SourceLines
from netdiag.render.places import path_text
from netdiag.render.redact import HIDDEN, secret_spans


def fingerprints(findings: Sequence[Finding], sources: Mapping[str, bytes], root: str = "") -> list[str]:
    """One hexadecimal text per finding, no two alike; what is equal otherwise is counted in the order given."""
    lines = _Lines(sources)
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for finding in findings:
        essence = (finding.rule, *_where(finding, lines, root), finding.service or "", finding.listener or "")
        found.append(digest(*essence, str(seen[essence])))
        seen[essence] += 1
    return found


def digest(*parts: str) -> str:
    """A hash of texts, whatever they hold."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:40]


class _Lines:
    """The lines of files as they are hashed, each made once: thousands of findings may stand on one long line."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = SourceLines(sources)
        self._shown: dict[tuple[str, int], str] = {}

    def shown(self, path: str, index: int) -> str:
        """A line without its indentation and its secrets; empty outside the file."""
        if (path, index) not in self._shown:
            self._shown[path, index] = _shown(self._sources.of(path), index)
        return self._shown[path, index]


def _where(finding: Finding, lines: _Lines, root: str) -> tuple[str, ...]:
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


def _shown(lines: Sequence[str], index: int) -> str:
    if not 0 <= index < len(lines):
        return ""
    line = lines[index]
    for start, end in reversed(secret_spans(lines, index)):
        line = line[:start] + HIDDEN + line[end:]
    return " ".join(line.split())
