"""Applying the edits of findings to the bytes of files, and showing what they change."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from netdiag.findings import Edit, Finding
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """Files after the edits of `applied`; a finding whose edits clash with an earlier one's is in `refused`."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    applied: tuple[Finding, ...] = ()
    refused: tuple[Finding, ...] = ()


def repair(findings: Iterable[Finding], sources: Mapping[str, bytes]) -> Repair:
    """The files with every repair that can be made at once.

    A finding's edits are made together or not at all. Equal edits count once (several services share an
    anchor); of repairs that touch the same text otherwise, the first is made and the others wait for another look.
    """
    applied: list[Finding] = []
    refused: list[Finding] = []
    taken: dict[str, list[Edit]] = {}
    for finding in findings:
        if not finding.edits:
            continue
        edits = sorted(set(finding.edits), key=_order)
        if all(_fits(edit, taken.get(edit.path, []), sources) for edit in edits) and not _clash(edits):
            applied.append(finding)
            for edit in edits:
                here = taken.setdefault(edit.path, [])
                if not any(_order(edit) == _order(other) for other in here):
                    here.append(edit)
        else:
            refused.append(finding)
    files = {path: apply(sources[path], sorted(edits, key=_order)) for path, edits in taken.items()}
    return Repair(files=files, applied=tuple(applied), refused=tuple(refused))


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
    import difflib  # slow to import

    lines = difflib.diff_bytes(
        difflib.unified_diff, _lines(before), _lines(after), b"a/" + name, b"b/" + name, lineterm=b"\n"
    )
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines)


def _order(edit: Edit) -> tuple[str, int, int, str]:
    return (edit.path, edit.start, edit.end, edit.replacement)


def _fits(edit: Edit, taken: Sequence[Edit], sources: Mapping[str, bytes]) -> bool:
    """Whether an edit lies in what was read and leaves alone what others change."""
    others = (other for other in taken if _order(other) != _order(edit))
    return _inside(edit, sources) and not any(_clash(sorted((edit, other), key=_order)) for other in others)


def _clash(ordered: Sequence[Edit]) -> bool:
    return any(a.path == b.path and _overlap(a, b) for a, b in pairwise(ordered))


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
