"""Changes to how a service is written: each is one stretch of one file, and all else in the file stays.

Works on the tree of a file as it is written (nothing expanded), so that what is added or taken away belongs to
this service and to no other. Whatever is laid out in a way that is not understood here gives None.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from netdiag.compose.yaml_tree import MappingNode, Node, ScalarNode, SequenceNode, load_nodes
from netdiag.findings import Edit
from netdiag.patterns import regex

_ITEM = regex(r"[ ]*-[ ]+")
_BARE = regex(r"[A-Za-z0-9_.-]*[A-Za-z_][A-Za-z0-9_.-]*")
# Words and signs that make a plain scalar something else than the string it shows.
_NOT_PLAIN = regex(r"(?i)[-?:,\[\]{}#&*!|>'\"%@`\s].*|.*(?:: | #|[:\s]$).*|[0-9.+~].*|true|false|null|yes|no|on|off")


class ServiceLayout:
    """One service as one document of one file writes it."""

    def __init__(self, source: Source, name: str, node: MappingNode, variables_key: str = "environment") -> None:
        self.source = source
        self.name = name
        self.node = node
        self.variables_key = variables_key

    @property
    def variables(self) -> Node | None:
        """The node of the variables that the service itself writes."""
        return self.field(self.variables_key)

    def field(self, key: str) -> Node | None:
        """The node under a key that the service itself writes."""
        return _under(self.node, key)

    def has_variable(self, name: str) -> bool:
        """Whether the service's own `environment` names a variable."""
        return _variable(self.variables, name) is not None

    def add_variable(self, name: str, value: str, beside: str | None) -> Edit | None:
        """A variable more, behind `beside` where the service itself has that one, else at the end."""
        match self.variables:
            case MappingNode(pairs=pairs) as node if pairs:
                near = _variable(node, beside) if beside else None
                pair = near if isinstance(near, tuple) else _last_written(pairs)
                return None if pair is None else self._beside_pair(node, pair, name, value)
            case SequenceNode(items=items) as node if items:
                near = _variable(node, beside) if beside else None
                item = near if isinstance(near, ScalarNode) else items[-1]
                return self._beside_item(node, item, f"{name}={value}")
            case None:
                line = f"{name}: {_spelled(value, '')}"
                return self._add_block(self.variables_key, line) if not _merges(self.node) else None
            case _:
                return None

    def remove_variable(self, name: str) -> Edit | None:
        """The service's own `environment` without a variable."""
        node = self.variables
        found = _variable(node, name)
        match node, found:
            case MappingNode(pairs=pairs), (ScalarNode() as key, value) if len(pairs) > 1:
                spans = [(k.start, max(k.end, v.end)) for k, v in pairs]
                return self._without(node, spans, spans.index((key.start, max(key.end, value.end))))
            case SequenceNode(items=items), ScalarNode() if len(items) > 1:
                return self._without(node, [(i.start, i.end) for i in items], items.index(found))
            case _:
                return None

    def add_port(self, entry: str) -> Edit | None:
        """An entry more in the service's own `ports`."""
        match self.field("ports"):
            case SequenceNode(items=()) as node if self._is_flow(node):
                return self._insert(node.start + 1, f'"{entry}"')
            case SequenceNode(items=items) as node if items:
                return self._beside_item(node, items[-1], entry, quote='"')
            case None:
                pair = _pair(self.node, "image") or _last_written(self.node.pairs)
                if pair is None or self._is_flow(self.node) or _merges(self.node) or not self._ends_its_line(pair):
                    return None
                prefix = self._prefix(pair[0].start)
                return None if prefix is None else self._line_after(pair[1].end, f'{prefix}ports: ["{entry}"]')
            case _:
                return None

    def add_field(self, key: str, value: str) -> Edit | None:
        """A key with a scalar, behind the image."""
        pair = _pair(self.node, "image") or _last_written(self.node.pairs)
        if pair is None or self._is_flow(self.node) or _merges(self.node) or not self._ends_its_line(pair):
            return None
        prefix = self._prefix(pair[0].start)
        spelled = _spelled(value, "'" if '"' in value else "")
        return None if prefix is None else self._line_after(pair[1].end, f"{prefix}{key}: {spelled}")

    def _add_block(self, key: str, line: str) -> Edit | None:
        pair = _pair(self.node, "image") or _last_written(self.node.pairs)
        if pair is None or self._is_flow(self.node) or not self._ends_its_line(pair):
            return None
        prefix = self._prefix(pair[0].start)
        if prefix is None:
            return None
        return self._line_after(pair[1].end, f"{prefix}{key}:{self.source.newline}{prefix}  {line}")

    def _beside_pair(self, node: MappingNode, pair: tuple[Node, Node], name: str, value: str) -> Edit | None:
        key, held = pair
        quote = _quote(held)
        if self._is_flow(node):
            spelled = name if _quote(key) == "" else f"{_quote(key)}{name}{_quote(key)}"
            mark = quote or ("" if _BARE.fullmatch(value) else '"')
            text = f"{mark}{value}{mark}"
            return self._insert(max(key.end, held.end), f", {spelled}: {text}")
        prefix = self._prefix(key.start)
        if prefix is None:
            return None
        line = f"{prefix}{name}: {_spelled(value, quote)}"
        if not self._ends_its_line(pair):
            return self._insert(key.start, line.removeprefix(prefix) + self.source.newline + prefix)
        return self._line_after(max(key.end, held.end), line)

    def _beside_item(self, node: SequenceNode, item: Node, entry: str, quote: str = "") -> Edit | None:
        quote = _quote(item) or quote
        if self._is_flow(node):
            mark = quote or '"'
            return self._insert(item.end, f", {mark}{entry}{mark}")
        prefix = self._prefix(item.start, _ITEM)
        if prefix is None or _is_block_scalar(item):
            return None
        return self._line_after(item.end, f"{prefix}{_spelled(entry, quote)}")

    def _without(self, node: Node, spans: list[tuple[int, int]], index: int) -> Edit | None:
        text, (start, end) = self.source.text, spans[index]
        if self._is_flow(node):
            left, right = (spans[index - 1][1], end) if index else (start, spans[1][0])
            between = text[left:start] if index else text[end:right]
            return self._edit(left, right, "") if between.strip() == "," else None
        shape = _ITEM if isinstance(node, SequenceNode) else None
        if self._prefix(start, shape) is None or text[end : self._line_end(end)].strip().partition("#")[0]:
            return None
        first, last = text.rfind("\n", 0, start) + 1, self._line_end(end)
        if text.startswith("\r\n", last):
            return self._edit(first, last + 2, "")
        if last < len(text):
            return self._edit(first, last + 1, "")
        return self._edit(first - len(self.source.newline), last, "")

    def _prefix(self, start: int, shape: re.Pattern[str] | None = None) -> str | None:
        """What stands before a key or item in its line: blanks, for an item with its dash; None for anything else."""
        prefix = self.source.text[self.source.text.rfind("\n", 0, start) + 1 : start]
        if shape is not None:
            return prefix if shape.fullmatch(prefix) else None
        return prefix if not prefix.strip(" ") else None

    def _ends_its_line(self, pair: tuple[Node, Node]) -> bool:
        """Whether a line can be put behind a pair: nothing but a comment follows, no text block is open."""
        end = max(pair[0].end, pair[1].end)
        rest = self.source.text[end : self._line_end(end)].strip()
        return not _is_block_scalar(pair[1]) and (not rest or rest.startswith((":", "#")))

    def _line_after(self, end: int, line: str) -> Edit:
        return self._insert(self._line_end(end), self.source.newline + line)

    def _line_end(self, position: int) -> int:
        text = self.source.text
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        return end - 1 if end > position and text[end - 1] == "\r" else end

    def _is_flow(self, node: Node) -> bool:
        return self.source.text.startswith(("{", "["), _opening(self.source.text, node))

    def _insert(self, position: int, text: str) -> Edit:
        return self._edit(position, position, text)

    def _edit(self, start: int, end: int, text: str) -> Edit:
        offset = self.source.offset
        return Edit(path=self.source.path, start=offset(start), end=offset(end), replacement=text)


def service_layouts(
    sources: Iterable[Source], path: Sequence[str | int], variables_key: str = "environment"
) -> Iterator[ServiceLayout]:
    """Every place that writes a service, to which a path leads, as a mapping of its own."""
    for source in sources:
        for document in _documents(source):
            node: Node | None = document
            for step in path:
                node = _at(node, step) if isinstance(step, int) else _under(node, step)
            if isinstance(node, MappingNode):
                yield ServiceLayout(source, str(path[-1]), node, variables_key)


def _at(node: Node | None, index: int) -> Node | None:
    return node.items[index] if isinstance(node, SequenceNode) and index < len(node.items) else None


def quotes_around(source: Source, start: int) -> tuple[Edit, Edit] | None:
    """The quotes that a plain scalar inside {} or [] needs before commas may stand in it; None where it needs none.

    `start` is the byte where the scalar, or the value in a `KEY=value` item, begins. A file that is not YAML, such as
    a mounted properties file, has no such scalar.
    """
    found = _flow_scalar(_documents(source), source, start)
    if found is None or found.style is not None:
        return None
    ends = (source.offset(found.start), source.offset(found.end))
    first, last = (Edit(path=source.path, start=end, end=end, replacement='"') for end in ends)
    return first, last


def _documents(source: Source) -> tuple[Node, ...]:
    """The documents of a file; none of a Dockerfile, a properties file or another that is not YAML."""
    try:
        return load_nodes(source)
    except ComposeError:
        return ()


def _flow_scalar(nodes: tuple[Node, ...], source: Source, start: int) -> ScalarNode | None:
    """The scalar around a byte when it stands in a flow collection."""
    stack: list[tuple[Node, bool]] = [(node, False) for node in nodes]
    while stack:
        node, flow = stack.pop()
        match node:
            case ScalarNode():
                if flow and source.offset(node.start) <= start < source.offset(node.end):
                    return node
            case MappingNode() | SequenceNode():
                inside = flow or source.text.startswith(("{", "["), _opening(source.text, node))
                children = node.items if isinstance(node, SequenceNode) else [n for pair in node.pairs for n in pair]
                stack += [(child, inside) for child in children]
    return None


def _opening(text: str, node: Node) -> int:
    """Where a collection begins behind its anchor and tag."""
    start = node.start
    while start < node.end and text[start] in "&!":
        while start < node.end and not text[start].isspace():
            start += 1
        while start < node.end and text[start].isspace():
            start += 1
    return start


def _under(node: Node | None, key: str) -> Node | None:
    pair = _pair(node, key)
    return None if pair is None else pair[1]


def _pair(node: Node | None, key: str) -> tuple[Node, Node] | None:
    if not isinstance(node, MappingNode):
        return None
    return next((pair for pair in node.pairs if isinstance(pair[0], ScalarNode) and pair[0].value == key), None)


def _variable(node: Node | None, name: str) -> tuple[Node, Node] | ScalarNode | None:
    """The pair of a map, or the item of a list, that declares a variable."""
    if isinstance(node, SequenceNode):
        items = (item for item in node.items if isinstance(item, ScalarNode))
        return next((item for item in items if item.value.partition("=")[0] == name), None)
    return _pair(node, name)


def _last_written(pairs: tuple[tuple[Node, Node], ...]) -> tuple[Node, Node] | None:
    """The last pair with a scalar of its own: not a merge key, not an alias."""
    own = (p for p in reversed(pairs) if isinstance(p[0], ScalarNode) and p[0].value != "<<")
    return next((pair for pair in own if isinstance(pair[1], ScalarNode)), None)


def _merges(node: MappingNode) -> bool:
    """Whether a merge key, or `extends`, may bring the field that is not written here."""
    return _pair(node, "<<") is not None or _pair(node, "extends") is not None


def _is_block_scalar(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.style in ("|", ">")


def _quote(node: Node) -> str:
    return node.style if isinstance(node, ScalarNode) and node.style in ("'", '"') else ""


def _spelled(value: str, quote: str) -> str:
    """A value for a block line, quoted like its neighbour, and where a plain one would be read otherwise."""
    if not quote and _NOT_PLAIN.fullmatch(value) and not value.isdigit():
        quote = '"'
    return f"{quote}{value}{quote}"
