"""Applying the edits of findings to the bytes of files, and showing what they change."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from netdiag.findings import Edit, Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """Files after the edits of `applied`; a finding whose edits clash with another's is in `refused`."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    applied: tuple[Finding, ...] = ()
    refused: tuple[Finding, ...] = ()


def repair(findings: Iterable[Finding], sources: Mapping[str, bytes]) -> Repair:
    """The files with every repair that can be made.

    A finding's edits are made together or not at all. Equal edits count once (several services share an
    anchor); edits that overlap otherwise are refused for all who want them, as nobody can tell which is meant.
    """
    repairable = [finding for finding in findings if finding.edits]
    wanted = sorted({edit for finding in repairable for edit in finding.edits}, key=_order)
    clashing = _clashing(wanted) | {edit for edit in wanted if not _inside(edit, sources)}
    applied = tuple(f for f in repairable if not clashing.intersection(f.edits))
    edits = sorted({edit for finding in applied for edit in finding.edits}, key=_order)
    files = {
        path: apply(sources[path], [edit for edit in edits if edit.path == path])
        for path in dict.fromkeys(edit.path for edit in edits)
    }
    refused = tuple(f for f in repairable if clashing.intersection(f.edits))
    return Repair(files=files, applied=applied, refused=refused)


def apply(data: bytes, edits: Sequence[Edit]) -> bytes:
    """The bytes after edits that are in order and do not overlap."""
    parts: list[bytes] = []
    position = 0
    for edit in edits:
        parts += [data[position : edit.start], edit.replacement.encode()]
        position = edit.end
    return b"".join([*parts, data[position:]])


def unified_diff(path: str, before: bytes, after: bytes) -> bytes:
    """The change as a patch that `git apply` and `patch -p1` take; line ends stay as they are."""
    name = path.replace("\\", "/").removeprefix("./").encode("utf-8", "surrogateescape")
    lines = difflib.diff_bytes(
        difflib.unified_diff, _lines(before), _lines(after), b"a/" + name, b"b/" + name, lineterm=b"\n"
    )
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines)


def _order(edit: Edit) -> tuple[str, int, int, str]:
    return (edit.path, edit.start, edit.end, edit.replacement)


def _clashing(ordered: Sequence[Edit]) -> set[Edit]:
    clashing: set[Edit] = set()
    furthest: Edit | None = None
    for edit in ordered:
        if furthest is not None and furthest.path == edit.path and _overlap(furthest, edit):
            clashing |= {furthest, edit}
        if furthest is None or furthest.path != edit.path or edit.end >= furthest.end:
            furthest = edit
    return clashing


def _overlap(first: Edit, second: Edit) -> bool:
    """Whether the order of two edits would matter; `first` does not start later."""
    same_insertion = first.start == first.end == second.start == second.end
    return second.start < first.end or same_insertion or first.start == second.start


def _inside(edit: Edit, sources: Mapping[str, bytes]) -> bool:
    return edit.path in sources and 0 <= edit.start <= edit.end <= len(sources[edit.path])


def _lines(data: bytes) -> list[bytes]:
    """The lines with their line feeds; nothing else ends a line of a patch."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines
