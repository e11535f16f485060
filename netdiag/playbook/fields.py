"""YAML nodes as what they must be in a playbook: texts, numbers, lists, mappings; else an error with its line."""

from collections.abc import Callable, Iterator, Mapping
from typing import NoReturn, TypeVar

from netdiag.compose.positions import Source
from netdiag.compose.yaml_tree import AliasNode, MappingNode, Node, ScalarNode, SequenceNode
from netdiag.errors import InputError

LONGEST_TEXT = 4000
MOST_ITEMS = 200

T = TypeVar("T")


class Place:
    """A node of a file, and what it is called in messages."""

    def __init__(self, source: Source, node: Node, name: str) -> None:
        self.source = source
        self.node = node
        self.name = name

    def refuse(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise the error that this node is not what it should be."""
        span = self.source.char_span(self.node.start, self.node.start)
        where = f"{self.source.path}:{span.line}:{span.column}"
        raise InputError(f"{self.name} {message}", where=where, hint=hint)

    def text(self) -> str:
        """A text that is not empty; line breaks of the file are blanks."""
        node = self.node
        if isinstance(node, AliasNode):
            self.refuse("is an alias, which playbooks do not have", hint="write it out")
        if not isinstance(node, ScalarNode) or not node.value.strip():
            self.refuse("must be a text")
        if len(node.value) > LONGEST_TEXT:
            self.refuse(f"is longer than {LONGEST_TEXT} characters")
        return " ".join(node.value.split())

    def literal(self) -> str:
        """A text as it is written, line breaks and all."""
        self.text()
        assert isinstance(self.node, ScalarNode)
        return self.node.value.strip()

    def number(self, least: int, most: int) -> int:
        """A whole number within bounds."""
        text = self.text()
        if not (text.isdigit() and text.isascii() and len(text) < 10 and least <= int(text) <= most):
            self.refuse(f"must be a number from {least} to {most}")
        return int(text)

    def items(self) -> Iterator["Place"]:
        """The items of a list; a text alone is a list of one."""
        node = self.node
        if isinstance(node, ScalarNode):
            yield self
            return
        if not isinstance(node, SequenceNode):
            self.refuse("must be a list")
        if len(node.items) > MOST_ITEMS:
            self.refuse(f"has more than {MOST_ITEMS} items")
        for number, item in enumerate(node.items, 1):
            yield Place(self.source, item, f"item {number} of {self.name}")

    def all(self, read: Callable[["Place"], T]) -> tuple[T, ...]:
        """What `read` makes of each item."""
        return tuple(read(item) for item in self.items())

    def mapping(self, known: tuple[str, ...] = (), needed: tuple[str, ...] = ()) -> Mapping[str, "Place"]:
        """The values by key; any keys where none are known."""
        node = self.node
        if not isinstance(node, MappingNode):
            self.refuse("must be a mapping")
        if len(node.pairs) > MOST_ITEMS:
            self.refuse(f"has more than {MOST_ITEMS} keys")
        found: dict[str, Place] = {}
        for key, value in node.pairs:
            name = Place(self.source, key, f"a key of {self.name}").text()
            here = Place(self.source, key, f"'{name}'")
            if known and name not in known:
                here.refuse(f"is no key of {self.name}", hint=f"the keys are {', '.join(known)}")
            if name in found:
                here.refuse(f"stands twice in {self.name}")
            found[name] = Place(self.source, value, f"'{name}'")
        for name in needed:
            if name not in found:
                self.refuse(f"needs '{name}'")
        return found
