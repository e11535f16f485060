"""YAML text becomes a tree of nodes with character positions, nothing expanded and nothing interpreted.

The tree is built from the parser's events on a stack of our own, so nesting costs no recursion, and depth
and size are bounded before anything is allocated. Aliases stay pointers to their (completed) target.

The scanner knows the value of a scalar, not the way back. Each style is read again here into (characters, from, to)
pieces; when the pieces do not spell the scanner's value (a form not foreseen), the whole scalar becomes one piece that
is not verbatim: positions get coarser, never wrong.

Which characters are a comment is what the scanner leaves over: a `#` inside of a string, a block of text or a key is
none. What stands in a comment is not looked into here.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError, decoded
from netdiag.findings import FileLocation
from netdiag.patterns import regex
from netdiag.values import dataclass

MAX_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 100
MAX_VALUES = 100_000
# Anchor and tag of a scalar, and the comments that may follow them.
_PROPERTIES = regex(r"(?:[&!]\S*(?:\s+(?:#[^\r\n]*)?)*)+")
Piece = tuple[str, int, int]
_FOLD = r"[ \t]*(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))*[ \t]*"
_PLAIN = regex(rf"(?P<fold>{_FOLD})|(?P<text>[^ \t\r\n]+|[ \t]+)")
_SINGLE = regex(rf"(?P<fold>{_FOLD})|(?P<quote>'')|(?P<text>[^ \t\r\n']+|[ \t]+)")
_DOUBLE = regex(
    r"(?P<join>\\(?:\r\n|\r|\n)[ \t]*)"
    r"|(?P<escape>\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.))"
    rf"|(?P<fold>{_FOLD})|(?P<text>[^ \t\r\n\\]+|[ \t]+)"
)
_BREAK = regex(r"\r\n|\r|\n")
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_COMMENT = regex(r"(?:(?<=[ \t\r\n])|\A)#[^\r\n]*")
_HEADER = regex(r"[|>][^\r\n#]*?(?=[ \t]#)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarNode:
    """A scalar as the scanner reads it; style is None (plain) or one of ' " | >."""

    value: str
    style: str | None
    tag: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceNode:
    """A list, in block or flow style."""

    items: tuple["Node", ...]
    tag: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingNode:
    """Key and value nodes in the order of the file, duplicates and merge keys included."""

    pairs: tuple[tuple["Node", "Node"], ...]
    tag: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasNode:
    """A use of an anchor."""

    target: "Node"
    start: int
    end: int


Node = ScalarNode | SequenceNode | MappingNode | AliasNode


class _OpenCollection:
    """A collection whose end has not come yet."""

    __slots__ = ("anchor", "children", "flow", "mapping", "start", "tag")

    def __init__(self, event: Any) -> None:
        self.anchor: str | None = event.anchor
        self.tag: str | None = event.tag
        self.start: int = event.start_mark.index
        self.flow = bool(event.flow_style)
        self.mapping = isinstance(event, MappingStartEvent)
        self.children: list[Node] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment with its `#`.

    `first_line` to `last_line` is what it stands at: for one behind something its own line, with all lines of a
    value that begins or ends there; for one on a line of its own the key or list item below it, to its end.
    `service` is the service that is declared there as a whole. `at_top` tells that nothing but comments precedes.
    """

    text: str
    span: FileLocation
    first_line: int
    last_line: int
    alone: bool
    at_top: bool = False
    service: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _EntryRange:
    """A key with its value, or a list item: characters start..end."""

    start: int
    end: int
    service: str | None
    scalar: bool


def load_nodes(source: Source) -> tuple[Node, ...]:
    """The documents of a YAML stream; ComposeError for anything that is not YAML or is too large."""
    if not isinstance(source.tree, tuple):
        source.tree = _tree(source.path, source.data)
    return cast(tuple[Node, ...], source.tree)


def pieces_of(text: str, start: int, end: int, style: str | None, value: str) -> list[Piece]:
    """The pieces of the scalar that the characters start..end of `text` write in `style`."""
    raw = text[start:end]
    if style is None and raw == value:
        return [(value, start, end)]
    if style in ("'", '"') and raw[1:-1] == value:
        return [(value, start + 1, end - 1)]
    match style:
        case "'":
            pieces = list(_flow_pieces(_SINGLE, text, start + 1, end - 1))
        case '"':
            pieces = list(_flow_pieces(_DOUBLE, text, start + 1, end - 1))
        case "|" | ">":
            pieces = _block_pieces(text, start, end, value)
        case _:
            pieces = list(_flow_pieces(_PLAIN, text, start, end))
    if "".join(chars for chars, _, _ in pieces) != value:
        return [(value, start, end)]
    return pieces


def read_comments(source: Source, containing: str) -> tuple[Comment, ...]:
    """The comments that hold `containing`, in their order; none of a file that is not YAML."""
    if containing.encode() not in source.data:
        return ()
    try:
        documents = load_nodes(source)
    except ComposeError:
        return ()
    scalars = sorted(stretch for node in documents for stretch in _scalar_ranges(source.text, node))
    blocks = sorted((block for node in documents for block in _entry_ranges(node)), key=lambda b: (b.start, -b.end))
    starts = [block.start for block in blocks]
    extents = _line_extents(source, blocks)
    content = min((start for start, _ in scalars), default=len(source.text))
    found = []
    for match in _COMMENT.finditer(source.text):
        if containing not in match[0] or _is_inside(scalars, match.start()):
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


@lru_cache(maxsize=4)
def _tree(path: str, data: bytes) -> tuple[Node, ...]:
    # A file is read for what it declares, for its comments and for repairs, each time as a Source of its own.
    return _parsed(Source(path, data))


def _parsed(source: Source) -> tuple[Node, ...]:
    if len(source.data) > MAX_BYTES:
        raise ComposeError(
            f"file of {len(source.data)} bytes is too large, the limit is {MAX_BYTES}", span=source.span(0, 0)
        )
    text = decoded(source)
    builder = _TreeBuilder(source)
    try:
        for event in _events(text):
            builder.feed(event)
    except ReaderError as error:
        place = source.char_span(error.position, error.position + 1)
        raise ComposeError(f"character {error.character:#04x} is not allowed in YAML", span=place) from error
    except MarkedYAMLError as error:
        raise _syntax_error(source, error) from error
    except YAMLError as error:
        raise ComposeError(f"not YAML: {error}", span=source.span(0, 0)) from error
    except (ValueError, IndexError, AttributeError, AssertionError, TypeError, KeyError) as error:
        # The scanner is not hardened: on some malformed input it trips over itself.
        message = f"not YAML: the parser gave up ({type(error).__name__})"
        raise ComposeError(message, span=source.span(0, 0)) from error
    return tuple(builder.documents)


class _TreeBuilder:
    """Turns events into documents."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents: list[Node] = []
        self.stack: list[_OpenCollection] = []
        self.anchors: dict[str, Node | None] = {}
        self.count = 0

    def feed(self, event: Any) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        match event:
            case ScalarEvent():
                node = ScalarNode(value=event.value, style=event.style or None, tag=event.tag, start=start, end=end)
                self._add(self._located(node), event.anchor)
            case MappingStartEvent() | SequenceStartEvent():
                if len(self.stack) >= MAX_DEPTH:
                    message = f"nested deeper than {MAX_DEPTH} levels"
                    raise ComposeError(message, span=self.source.char_span(start, start + 1))
                self.stack.append(_OpenCollection(event))
                if event.anchor is not None:
                    self.anchors[event.anchor] = None
            case MappingEndEvent() | SequenceEndEvent():
                opened = self.stack.pop()
                self._add(_closed(opened, end), opened.anchor)
            case AliasEvent():
                self._add(AliasNode(target=self._target(event.anchor, start, end), start=start, end=end), None)
            case DocumentStartEvent(version=version) if version is not None and tuple(version) != (1, 1):
                # As in compose: the parser of Go reads YAML 1.2 and takes 1.1 for its name.
                raise ComposeError("Compose reads only documents of version %YAML 1.1", span=self._place(event))

    def _place(self, event: Any) -> FileLocation:
        return self.source.char_span(event.start_mark.index, event.end_mark.index)

    def _located(self, node: ScalarNode) -> ScalarNode:
        """Tags, anchors and comments before a scalar, and blank lines after a block, are not part of its place."""
        text, start = self.source.text, node.start
        if (properties := _PROPERTIES.match(text, start, node.end)) is not None:
            start = properties.end()
        if node.style in ("'", '"'):
            start = text.find(node.style, start, node.end)
        end = start + len(text[start : node.end].rstrip())
        return ScalarNode(value=node.value, style=node.style, tag=node.tag, start=start, end=end)

    def _target(self, anchor: str, start: int, end: int) -> Node:
        place = self.source.char_span(start, end)
        if anchor not in self.anchors:
            raise ComposeError(f"unknown anchor {anchor!r}", span=place)
        target = self.anchors[anchor]
        if target is None:
            raise ComposeError(f"anchor {anchor!r} contains itself", span=place)
        return target

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = node
        self.count += 1
        if self.count > MAX_VALUES:
            message = f"the file contains more than {MAX_VALUES} values"
            raise ComposeError(message, span=self.source.char_span(node.start, node.start))
        if self.stack:
            self.stack[-1].children.append(node)
        else:
            self.documents.append(node)


def _closed(opened: _OpenCollection, end: int) -> Node:
    children = opened.children
    last = children[-1].end if children and not opened.flow else max(end, opened.start)
    if not opened.mapping:
        return SequenceNode(items=tuple(children), tag=opened.tag, start=opened.start, end=last)
    pairs = tuple(zip(children[::2], children[1::2], strict=True))
    return MappingNode(pairs=pairs, tag=opened.tag, start=opened.start, end=last)


def _events(text: str) -> Iterator[Any]:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 2)
    yield from yaml.parse(text)


def _syntax_error(source: Source, error: MarkedYAMLError) -> ComposeError:
    mark = error.problem_mark or error.context_mark
    index = min(mark.index, len(source.text)) if mark is not None else 0
    words = [word for word in (error.context, error.problem) if word]
    return ComposeError("not YAML: " + ", ".join(words), span=source.char_span(index, index))


def _flow_pieces(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Piece]:
    position = start
    while position < end and (match := pattern.match(text, position, end)):
        position = match.end()
        written = match.group()
        match match.lastgroup:
            case "fold":
                breaks = len(_BREAK.findall(written))
                yield " " if breaks == 1 else "\n" * (breaks - 1), match.start(), position
            case "quote":
                yield "'", match.start(), position
            case "join":
                yield "", match.start(), position
            case "escape":
                yield _unescaped(written[1:]), match.start(), position
            case _:
                yield written, match.start(), position


def _unescaped(body: str) -> str:
    if len(body) > 1:
        code = int(body[1:], 16)
        return chr(code) if code < 0x110000 else ""
    return _ESCAPES.get(body, "")


def _block_pieces(text: str, start: int, end: int, value: str) -> list[Piece]:
    """Aligns the lines below the header with the value: each line verbatim, what is between them not."""
    header = _BREAK.search(text, start, end)
    if header is None:
        return []
    pieces: list[Piece] = []
    done, gap = 0, header.end()
    for left, right in _line_ranges(text, header.end(), end):
        content = text[left:right].lstrip(" ")
        if not content:
            continue
        break_end = done
        while break_end < len(value) and value[break_end] == "\n":
            break_end += 1
        if break_end == done and value[done : done + 1] == " " and pieces and not value.startswith(content, done):
            break_end += 1
        indent = len(value) - len(value[break_end:].lstrip(" ")) - break_end
        if not value.startswith(content, break_end + indent):
            return []
        begin = right - len(content) - indent
        if break_end > done:
            pieces.append((value[done:break_end], gap, begin))
        pieces.append((value[break_end : break_end + indent + len(content)], begin, right))
        done, gap = break_end + indent + len(content), right
    if done < len(value):
        pieces.append((value[done:], gap, end))
    return pieces


def _line_ranges(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        found = _BREAK.search(text, start, end)
        yield start, found.start() if found else end
        start = found.end() if found else end


def _scalar_ranges(text: str, node: Node) -> Iterator[tuple[int, int]]:
    """Where strings, keys and blocks of text stand; the line that opens a block of text may hold a comment."""
    match node:
        case MappingNode(pairs=pairs):
            for pair in pairs:
                yield from _scalar_ranges(text, pair[0])
                yield from _scalar_ranges(text, pair[1])
        case SequenceNode(items=items):
            for item in items:
                yield from _scalar_ranges(text, item)
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


def _line_end(text: str, index: int) -> int:
    ends = [position for end in "\r\n" if (position := text.find(end, index)) >= 0]
    return min(ends, default=len(text))


def _entry_ranges(node: Node, path: tuple[str, ...] = ()) -> Iterator[_EntryRange]:
    match node:
        case MappingNode(pairs=pairs):
            for key, value in pairs:
                name = key.value if isinstance(key, ScalarNode) else ""
                here = (*path, name)
                end = key.end if isinstance(value, AliasNode) or value.end < key.end else value.end
                service = name if len(here) == 2 and here[0] == "services" else None
                yield _EntryRange(start=key.start, end=end, service=service, scalar=isinstance(value, ScalarNode))
                yield from _entry_ranges(value, here)
        case SequenceNode(items=items):
            for item in items:
                yield _EntryRange(start=item.start, end=item.end, service=None, scalar=isinstance(item, ScalarNode))
                yield from _entry_ranges(item, (*path, ""))
        case ScalarNode() | AliasNode():
            return


def _line_extents(source: Source, blocks: list[_EntryRange]) -> dict[int, tuple[int, int]]:
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


def _is_inside(scalars: list[tuple[int, int]], index: int) -> bool:
    before = bisect_right(scalars, (index, len(scalars) and scalars[-1][1])) - 1
    return before >= 0 and scalars[before][0] <= index < scalars[before][1]
