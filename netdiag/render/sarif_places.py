"""Places and repairs in SARIF's words: relative URIs, regions that count UTF-16 code units, replacements."""

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from netdiag.compose.positions import Source
from netdiag.findings import ContainerLocation, Edit, FileLocation, Location, TopologyLocation, WireLocation
from netdiag.render.finding_text import SourceLines
from netdiag.render.places import container_text, harmless, topology_text, uri, wire_text

# Where relative URIs start; whoever reads the file knows it, usually as the root of the repository.
ROOT_ID = "%SRCROOT%"


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
            replacement["insertedContent"] = {"text": _sound(edit.replacement)}
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
        lines = self._lines.of(path)
        before = lines[line - 1][: column - 1] if line <= len(lines) else ""
        return column if before.isascii() else column + sum(ord(character) > 0xFFFF for character in before)


def _sound(text: str) -> str:
    """Lone surrogates replaced: strict JSON readers refuse them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
