"""What of Mermaid's flowchart syntax we use, line by line; anything else is not ours, and may be somebody's name.

Source: mermaid.js.org, "Flowcharts - Basic Syntax". The grammar is narrower than Mermaid's own.
"""

import re
from dataclasses import dataclass

_ID = r"n[0-9a-f]{12}"
# Letters, digits, a few signs, entity codes, line breaks.
_LABEL = r'"(?:[A-Za-z0-9 .,:/_-]|#[0-9]+;|<br/>)*"'
_LINES = {
    "head": re.compile(r"flowchart LR"),
    "box": re.compile(rf"  subgraph {_ID}\[{_LABEL}\]"),
    "end": re.compile(r"  end"),
    "node": re.compile(rf"  (?:  )?(?P<id>{_ID})(?:\[{_LABEL}\]|\[\[{_LABEL}\]\]|\(\[{_LABEL}\]\))"),
    "edge": re.compile(rf"  (?P<a>{_ID}) (?:---|-->|-\.->|--x)(?:\|{_LABEL}\|)? (?P<b>{_ID})"),
    "comment": re.compile(r"  %% [^{}\n]*"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flowchart:
    """What a text holds."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    boxes: int


def parse(text: str) -> Flowchart:
    """The flowchart of a text; ValueError for a line that is none of ours, an open box, an edge to nowhere."""
    nodes: list[str] = []
    edges: list[tuple[str, str]] = []
    boxes = depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        kind, match = next(((k, m) for k, p in _LINES.items() if (m := p.fullmatch(line))), (None, None))
        if match is None or (kind == "head") != (number == 1):
            raise ValueError(f"line {number}: {line}")
        if kind == "box":
            boxes, depth = boxes + 1, depth + 1
        elif kind == "end":
            depth -= 1
        elif kind == "node":
            nodes.append(match["id"])
        elif kind == "edge":
            edges.append((match["a"], match["b"]))
    if depth or len(set(nodes)) < len(nodes) or {end for edge in edges for end in edge} - set(nodes):
        raise ValueError("boxes that stay open, nodes that stand twice, or edges to what is no node")
    return Flowchart(nodes=tuple(nodes), edges=tuple(edges), boxes=boxes)
