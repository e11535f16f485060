"""Nodes become values: aliases followed, merge keys applied, variables substituted, scalars typed.

Targets of aliases are expanded once and shared; the expanded size is counted all the same, so a bomb is
refused by its size and not by its effect. `!reset` removes its node and both `!reset` and `!override` leave
their path for the merge with earlier files.
"""

from dataclasses import dataclass, replace

from netdiag.compose.errors import ComposeError
from netdiag.compose.interpolate import interpolate
from netdiag.compose.nodes import MAX_DEPTH, MAX_VALUES, AliasNode, MappingNode, Node, ScalarNode, SequenceNode
from netdiag.compose.origins import Origin, within
from netdiag.compose.positions import Segment, Source, Span, Text, assemble
from netdiag.compose.problems import Problems
from netdiag.compose.scalars import pieces_of
from netdiag.compose.values import Entry, Kind, Mapping, Scalar, Scope, Sequence, Value, plain_kind

Path = tuple[str, ...]

_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expanded:
    """A value, and the paths below it that `!reset` and `!override` mark for removal from earlier files.

    The value is None when it is reset itself.
    """

    value: Value | None
    resets: tuple[Path, ...] = ()
    overrides: tuple[Path, ...] = ()
    size: int = 1
    depth: int = 1


def expand(source: Source, node: Node, scope: Scope, problems: Problems) -> Expanded:
    """One document of a file as values; ComposeError when aliases blow it up or merge what is no mapping."""
    return _Expander(source, scope, problems).expand(node)


class _Expander:
    """The expansion of one file."""

    def __init__(self, source: Source, scope: Scope, problems: Problems) -> None:
        self.source = source
        self.scope = scope
        self.problems = problems
        self.done: dict[int, Expanded] = {}

    def expand(self, node: Node) -> Expanded:
        if isinstance(node, AliasNode):
            # As in compose: what lies below an anchor is reset where the anchor stands, not where it is used.
            whole = self.expand(node.target)
            self._drawn_in(node)
            return replace(whole, resets=tuple(path for path in whole.resets if not path))
        done = self.done.get(id(node))
        if done is None:
            done = self._expand(node)
            if done.size > MAX_VALUES or done.depth > MAX_DEPTH:
                what = "size" if done.size > MAX_VALUES else "depth"
                raise ComposeError(f"aliases expand to an excessive {what}", span=self._span(node))
            self.done[id(node)] = done
        return done

    def _expand(self, node: ScalarNode | SequenceNode | MappingNode) -> Expanded:
        if node.tag == "!reset":
            return Expanded(value=None, resets=((),))
        match node:
            case ScalarNode():
                expanded = Expanded(value=self._scalar(node))
            case SequenceNode():
                expanded = self._sequence(node)
            case MappingNode():
                expanded = self._mapping(node)
        if node.tag == "!override":
            return replace(expanded, resets=(), overrides=((),))
        return expanded

    def _scalar(self, node: ScalarNode) -> Scalar:
        kind: Kind
        kind, value = plain_kind(node.value) if node.style is None and not node.tag else ("str", node.value)
        if node.tag and node.tag.startswith(_TAG) and node.tag != f"{_TAG}str":
            kind, value = plain_kind(node.value)
        text = self._text(node)
        if kind == "str":
            return Scalar(kind=kind, text=self._interpolated(text), scope=self.scope)
        if value != node.value:
            segment = Segment(
                value_start=0, value_end=len(value), start=text.span.start, end=text.span.end, verbatim=False
            )
            text = Text(value=value, span=text.span, segments=(segment,), source=self.source)
        return Scalar(kind=kind, text=text, scope=self.scope)

    def _text(self, node: ScalarNode) -> Text:
        pieces = pieces_of(self.source.text, node.start, node.end, node.style, node.value)
        return assemble(self.source, pieces, node.start, node.end)

    def _interpolated(self, text: Text) -> Text:
        text, faults = interpolate(text, self.scope.lookup)
        self.problems.spend(len(text.value), text.span)
        self._given(text)
        for fault in faults:
            code = "required-variable" if fault.required else "interpolation"
            self.problems.error(code, fault.message, fault.span)
        for name in text.unset:
            segment = next((s for s in text.segments if s.unset and s.variable == name), None)
            place = text.span if segment is None else self.source.span(segment.start, segment.end)
            self.problems.warning(
                "unset-variable", f"variable {name!r} is not set, so Compose uses an empty string", place
            )
        return text

    def _drawn_in(self, node: AliasNode) -> None:
        target = node.target
        while isinstance(target, AliasNode):
            target = target.target
        self.problems.origins[Origin(area=self._span(target), by=self._span(node), how="alias")] = None

    def _given(self, text: Text) -> None:
        """Notes the places elsewhere that the variables of a text have their values from."""
        for segment in text.segments:
            place = self.source.span(segment.start, segment.end)
            if segment.variable is not None and segment.origin is not None and not within(segment.origin, place):
                origin = Origin(area=place, by=segment.origin, how="variable", name=segment.variable)
                self.problems.origins[origin] = None

    def _sequence(self, node: SequenceNode) -> Expanded:
        children = [self.expand(item) for item in node.items]
        items = tuple(child.value for child in children if child.value is not None)
        return Expanded(
            value=Sequence(items=items, span=self._span(node)),
            size=1 + sum(child.size for child in children),
            depth=1 + max((child.depth for child in children), default=0),
        )

    def _mapping(self, node: MappingNode) -> Expanded:
        entries: dict[str, Entry] = {}
        keys: dict[str, Text] = {}
        resets: list[Path] = []
        overrides: list[Path] = []
        merge: Node | None = None
        size, depth = 1, 1
        for key_node, value_node in node.pairs:
            key, is_merge = self._key(key_node)
            child = self.expand(value_node)
            size, depth = size + 1 + child.size, max(depth, 1 + child.depth)
            if key.value in keys:
                self._duplicate(key, keys[key.value])
            keys[key.value] = key
            if is_merge:
                merge = value_node
                resets += child.resets
                overrides += child.overrides
                continue
            resets += [(key.value, *path) for path in child.resets]
            overrides += [(key.value, *path) for path in child.overrides]
            if child.value is not None:
                via = self._span(value_node) if isinstance(value_node, AliasNode) else None
                entries[key.value] = Entry(key=key, value=child.value, via=via)
        if merge is not None:
            self._merge(entries, merge)
        value = Mapping(entries=entries, span=self._span(node))
        return Expanded(value=value, resets=tuple(resets), overrides=tuple(overrides), size=size, depth=depth)

    def _key(self, node: Node) -> tuple[Text, bool]:
        while isinstance(node, AliasNode):
            node = node.target
        if not isinstance(node, ScalarNode):
            raise ComposeError("a key must be a string", span=self._span(node))
        text = self._text(node)
        if node.style is None and node.tag is None:
            kind, spelled = plain_kind(node.value)
            if kind != "str":
                message = f"key {node.value or 'null'!r} is not a string and needs quotes"
                self.problems.error("schema", message, text.span)
            if spelled != node.value:
                text = Text(value=spelled, span=text.span, source=self.source)
        return text, node.value == "<<" and node.style is None

    def _duplicate(self, key: Text, first: Text) -> None:
        message = f"key {key.value!r} is already defined at line {first.span.line}"
        self.problems.error("duplicate-key", message, key.span, first.span)

    def _merge(self, entries: dict[str, Entry], node: Node) -> None:
        """Adds what `<<` brings and is not there yet; of several maps the earlier one wins."""
        target = node
        while isinstance(target, AliasNode):
            target = target.target
        sources = target.items if isinstance(target, SequenceNode) else (node,)
        via = self._span(node)
        for each in sources:
            value = self.expand(each).value
            if value is None:
                continue
            if not isinstance(value, Mapping):
                raise ComposeError("a merge key needs a mapping or a list of mappings", span=self._span(each))
            for key, entry in value.entries.items():
                entries.setdefault(key, Entry(key=entry.key, value=entry.value, via=via))

    def _span(self, node: Node) -> Span:
        return self.source.char_span(node.start, node.end)
