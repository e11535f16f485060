"""The mesh of a cluster, which member reaches which: as text, and as values of the JSON of check-listeners.

The text has a sentence for each kind of edge, a grid where not all of them hold, and every cut edge by name.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from netdiag.deployment.model.contact import Answered, Contact, Unknown
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh, edge_outcome, is_cut
from netdiag.render.redact import redacted
from netdiag.render.screen import Line, Run, Screen, Style, hanging, width, wrap
from netdiag.render.wording import plural

_INDENT = "  "
_GAP = "  "
_MOST_NAMED = 40


def mesh_lines(mesh: Mesh, screen: Screen, *, name: str = "") -> list[Line]:
    """The lines; none where there are no edges. `name` is the input, where there are several."""
    if not mesh.edges:
        return []
    title = "Connections between members of the cluster" + (f": {name}" if name else "")
    lines: list[Line] = [(screen.run(title, Style.BOLD), Run("  (from inside each member)", Style.DIM))]
    for kind in EdgeKind:
        edges = [edge for edge in mesh.edges if edge.kind is kind]
        if edges:
            lines += _kind(kind, edges, screen)
    return lines + [line for source, because in mesh.skipped for line in _skipped(source, because, screen)]


def edge_value(input_name: str, edge: Edge) -> dict[str, Any]:
    """One edge; `cut` is null where nobody looked, or could not tell."""
    return {
        "input": input_name,
        "kind": edge.kind.value,
        "source": edge.source,
        "target": edge.target or None,
        "host": edge.address.host,
        "port": edge.address.port,
        "predicted": _contact_value(edge, edge.predicted),
        "observed": _contact_value(edge, edge.observed),
        "cut": is_cut(edge),
    }


def _kind(kind: EdgeKind, edges: Sequence[Edge], screen: Screen) -> Iterator[Line]:
    seen = [edge for edge in edges if edge.observed is not None]
    cut = [edge for edge in seen if is_cut(edge)]
    open_ = [edge for edge in seen if is_cut(edge) is None]
    if not seen:
        yield (Run(f"{_INDENT}{kind.value}: "), Run(f"{plural(len(edges), 'connection')} not checked", Style.DIM))
        return
    if not cut and not open_:
        yield (Run(f"{_INDENT}{kind.value}: "), Run(_all_hold(len(seen)), Style.GOOD))
        return
    text = (
        f"{len(cut)} of {plural(len(seen), 'connection')} fail"
        if cut
        else f"{plural(len(open_), 'connection')} unknown"
    )
    yield (Run(f"{_INDENT}{kind.value}: "), Run(text, Style.BAD if cut else Style.HALF))
    yield from _grid(edges, screen)
    for edge in [*cut, *open_][:_MOST_NAMED]:
        yield from _named(edge, screen)
    if len(cut) + len(open_) > _MOST_NAMED:
        yield (Run(f"{_INDENT * 2}and {len(cut) + len(open_) - _MOST_NAMED} more", Style.DIM),)


def _all_hold(count: int) -> str:
    return "the only connection works" if count == 1 else f"all {count} connections work"


def _grid(edges: Sequence[Edge], screen: Screen) -> Iterator[Line]:
    """Sources downwards, targets across; nothing where it would not fit."""
    sources = sorted({edge.source for edge in edges})
    targets = sorted({_target(edge) for edge in edges})
    words = {(edge.source, _target(edge)): edge for edge in edges}
    heads = [screen.visible(target) for target in targets]
    cells = [[_cell(words.get((source, target))) for target in targets] for source in sources]
    names = [screen.visible(source) for source in sources]
    first = max(map(width, names))
    columns = [max(width(head), *(width(row[i].text) for row in cells)) for i, head in enumerate(heads)]
    if len(_INDENT) * 2 + first + sum(column + len(_GAP) for column in columns) > screen.width:
        return
    yield (
        Run(_INDENT * 2 + " " * first),
        *(Run(_GAP + _filled(head, column), Style.BOLD) for head, column in zip(heads, columns, strict=True)),
    )
    for name, row in zip(names, cells, strict=True):
        runs = [Run(_INDENT * 2 + _filled(name, first))]
        for run, column in zip(row, columns, strict=True):
            runs += [Run(_GAP), Run(_filled(run.text, column), run.style)]
        yield tuple(runs)


def _cell(edge: Edge | None) -> Run:
    if edge is None:
        return Run("-", Style.DIM)
    if edge.observed is None:
        return Run("?", Style.DIM)
    word = edge_outcome(edge, edge.observed)
    cut = is_cut(edge)
    return Run(word, Style.HALF if cut is None else Style.BAD if cut else Style.GOOD)


def _target(edge: Edge) -> str:
    return edge.target or str(edge.address)


def _named(edge: Edge, screen: Screen) -> Iterator[Line]:
    assert edge.observed is not None
    at = f" at {edge.address}" if edge.target else ""
    word = edge_outcome(edge, edge.observed)
    head = f"{edge.source} {screen.glyphs.arrow} {_target(edge)}{at}: {word}"
    predicted = edge.predicted
    expected = None if predicted is None or isinstance(predicted, Unknown) else edge_outcome(edge, predicted)
    differs = f"; predicted: {expected}" if expected not in (None, word) else ""
    text = screen.visible(redacted(f"{head}, {edge.observed.because}{differs}"))
    for number, part in enumerate(wrap(text, max(30, screen.width - len(_INDENT) * 3))):
        yield (Run(_INDENT * (2 if number == 0 else 3)), Run(part))


def _skipped(source: str, because: str, screen: Screen) -> Iterator[Line]:
    yield from hanging((Run(_INDENT),), redacted(f"not checked from {source}: {because}"), screen, Style.DIM)


def _filled(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def _contact_value(edge: Edge, contact: Contact | None) -> dict[str, Any] | None:
    if contact is None:
        return None
    answered = contact if isinstance(contact, Answered) else None
    return {
        "outcome": edge_outcome(edge, contact),
        "answered_by": answered.node_id if answered else None,
        "because": redacted(contact.because) or None,
    }
