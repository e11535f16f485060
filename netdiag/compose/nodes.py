"""YAML text becomes a tree of nodes with character positions, nothing expanded and nothing interpreted.

The tree is built from the parser's events on a stack of our own, so nesting costs no recursion, and depth
and size are bounded before anything is allocated. Aliases stay pointers to their (completed) target.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
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

from netdiag.compose.errors import ComposeError, decoded
from netdiag.compose.positions import Source, Span

MAX_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 100
MAX_VALUES = 100_000
# Anchor and tag of a scalar, and the comments that may follow them.
_PROPERTIES = re.compile(r"(?:[&!]\S*(?:\s+(?:#[^\r\n]*)?)*)+")


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


def load_nodes(source: Source) -> tuple[Node, ...]:
    """The documents of a YAML stream; ComposeError for anything that is not YAML or is too large."""
    if not isinstance(source.tree, tuple):
        source.tree = _tree(source.path, source.data)
    return cast(tuple[Node, ...], source.tree)


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
    builder = _Builder(source)
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


def _events(text: str) -> Iterator[Any]:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 2)
    yield from yaml.parse(text)


def _syntax_error(source: Source, error: MarkedYAMLError) -> ComposeError:
    mark = error.problem_mark or error.context_mark
    index = min(mark.index, len(source.text)) if mark is not None else 0
    words = [word for word in (error.context, error.problem) if word]
    return ComposeError("not YAML: " + ", ".join(words), span=source.char_span(index, index))


class _Open:
    """A collection whose end has not come yet."""

    __slots__ = ("anchor", "children", "flow", "mapping", "start", "tag")

    def __init__(self, event: Any) -> None:
        self.anchor: str | None = event.anchor
        self.tag: str | None = event.tag
        self.start: int = event.start_mark.index
        self.flow = bool(event.flow_style)
        self.mapping = isinstance(event, MappingStartEvent)
        self.children: list[Node] = []


class _Builder:
    """Turns events into documents."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents: list[Node] = []
        self.stack: list[_Open] = []
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
                self.stack.append(_Open(event))
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

    def _place(self, event: Any) -> Span:
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


def _closed(opened: _Open, end: int) -> Node:
    children = opened.children
    last = children[-1].end if children and not opened.flow else max(end, opened.start)
    if not opened.mapping:
        return SequenceNode(items=tuple(children), tag=opened.tag, start=opened.start, end=last)
    pairs = tuple(zip(children[::2], children[1::2], strict=True))
    return MappingNode(pairs=pairs, tag=opened.tag, start=opened.start, end=last)
