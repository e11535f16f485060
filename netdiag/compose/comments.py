"""Comments of a compose file, and the stretch of it that each one stands at.

Which characters are a comment is what the YAML scanner leaves over: a `#` inside of a string, a block of text or a
key is none. What stands in a comment is not looked into here.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from netdiag.compose.errors import ComposeError
from netdiag.compose.nodes import AliasNode, MappingNode, Node, ScalarNode, SequenceNode, load_nodes
from netdiag.compose.positions import Source, Span

_COMMENT = re.compile(r"(?:(?<=[ \t\r\n])|\A)#[^\r\n]*")
_HEADER = re.compile(r"[|>][^\r\n#]*?(?=[ \t]#)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment with its `#`.

    `first_line` to `last_line` is what it stands at: for one behind something its own line, with all lines of a
    value that begins or ends there; for one on a line of its own the key or list item below it, to its end.
    `service` is the service that is declared there as a whole. `at_top` tells that nothing but comments precedes.
    """

    text: str
    span: Span
    first_line: int
    last_line: int
    alone: bool
    at_top: bool = False
    service: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """A key with its value, or a list item: characters start..end."""

    start: int
    end: int
    service: str | None
    scalar: bool


def read_comments(source: Source, containing: str) -> tuple[Comment, ...]:
    """The comments that hold `containing`, in their order; none of a file that is not YAML."""
    if containing.encode() not in source.data:
        return ()
    try:
        documents = load_nodes(source)
    except ComposeError:
        return ()
    scalars = sorted(stretch for node in documents for stretch in _scalars(source.text, node))
    blocks = sorted((block for node in documents for block in _blocks(node)), key=lambda b: (b.start, -b.end))
    starts = [block.start for block in blocks]
    extents = _extents(source, blocks)
    content = min((start for start, _ in scalars), default=len(source.text))
    found = []
    for match in _COMMENT.finditer(source.text):
        if containing not in match[0] or _inside(scalars, match.start()):
            continue
        span = source.char_span(match.start(), match.end())
        alone = not source.text[match.start() - span.column + 1 : match.start()].strip(" \t\ufeff")
        below = bisect_left(starts, match.end())
        if not alone:
            first, last = extents.get(span.line, (span.line, span.line))
            service = None
        elif below < len(blocks):
            block = blocks[below]
            place = source.char_span(block.start, max(block.start, block.end - 1))
            first, last, service = place.line, place.end_line, block.service
        else:
            first, last, service = span.line, span.line, None
        found.append(
            Comment(
                text=match[0],
                span=span,
                first_line=first,
                last_line=last,
                alone=alone,
                at_top=alone and match.start() < content,
                service=service,
            )
        )
    return tuple(found)


def _scalars(text: str, node: Node) -> Iterator[tuple[int, int]]:
    """Where strings, keys and blocks of text stand; the line that opens a block of text may hold a comment."""
    match node:
        case MappingNode(pairs=pairs):
            for pair in pairs:
                yield from _scalars(text, pair[0])
                yield from _scalars(text, pair[1])
        case SequenceNode(items=items):
            for item in items:
                yield from _scalars(text, item)
        case ScalarNode(start=start, end=end, style=style):
            header = _HEADER.match(text, start, end) if style in ("|", ">") else None
            if header is not None:
                # What is left of the opening line behind its indicators is a comment.
                yield (start, header.end())
                start = _line_end(text, header.end())
            if start < end:
                yield (start, end)
        case AliasNode():
            return


def _inside(scalars: list[tuple[int, int]], index: int) -> bool:
    before = bisect_right(scalars, (index, len(scalars) and scalars[-1][1])) - 1
    return before >= 0 and scalars[before][0] <= index < scalars[before][1]


def _extents(source: Source, blocks: list[_Block]) -> dict[int, tuple[int, int]]:
    """For each line on which an entry of several lines begins or ends: its first and last line."""
    found: dict[int, tuple[int, int]] = {}
    for block in blocks:
        if not block.scalar or not re.search(r"[\r\n]", source.text[block.start : block.end]):
            continue
        top = source.place(source.offset(block.start))[0]
        bottom = source.place(source.offset(block.end - 1))[0]
        for line in (top, bottom):
            first, last = found.get(line, (line, line))
            found[line] = (min(first, top), max(last, bottom))
    return found


def _blocks(node: Node, path: tuple[str, ...] = ()) -> Iterator[_Block]:
    match node:
        case MappingNode(pairs=pairs):
            for key, value in pairs:
                name = key.value if isinstance(key, ScalarNode) else ""
                here = (*path, name)
                end = key.end if isinstance(value, AliasNode) or value.end < key.end else value.end
                service = name if len(here) == 2 and here[0] == "services" else None
                yield _Block(start=key.start, end=end, service=service, scalar=isinstance(value, ScalarNode))
                yield from _blocks(value, here)
        case SequenceNode(items=items):
            for item in items:
                yield _Block(start=item.start, end=item.end, service=None, scalar=isinstance(item, ScalarNode))
                yield from _blocks(item, (*path, ""))
        case ScalarNode() | AliasNode():
            return


def _line_end(text: str, index: int) -> int:
    ends = [position for end in "\r\n" if (position := text.find(end, index)) >= 0]
    return min(ends, default=len(text))
