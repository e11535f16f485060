"""The YAML of CI files and manifests as values with places, and what is wrong with it as one error."""

from netdiag.compose.merge import expand
from netdiag.compose.positions import Source, Text
from netdiag.compose.problems import ComposeError, Problems
from netdiag.compose.values import Mapping, Scalar, Scope, Sequence, Value
from netdiag.compose.yaml_tree import Node, load_nodes
from netdiag.findings import FileLocation

_EFFORT_PER_BYTE = 4


def no_variables(name: str) -> None:
    """A lookup of variables that finds none."""


SCOPE = Scope(folder="", lookup=no_variables, substitutes=False)


def documents(source: Source) -> tuple[Mapping, ...]:
    """The documents of a file that are mappings; ComposeError for what is no YAML, or is too large."""
    found = []
    for node in load_nodes(source):
        value = value_of(source, node)
        if isinstance(value, Mapping):
            found.append(value)
        elif isinstance(value, Sequence) or (isinstance(value, Scalar) and value.kind != "null"):
            raise ComposeError("the top level must be a mapping", span=value.span)
    if not found:
        raise ComposeError("the file is empty", span=source.span(0, 0))
    return tuple(found)


def value_of(source: Source, node: Node) -> Value | None:
    """A node as a value: aliases followed, merge keys applied."""
    return expand(source, node, SCOPE, Problems()).value


def text_in(mapping: Mapping, key: str) -> Text | None:
    """The scalar under a key; None where there is none, or where it is null."""
    value = mapping.get(key)
    return value.text if isinstance(value, Scalar) and value.kind != "null" else None


def texts_in(mapping: Mapping, key: str) -> tuple[Text, ...]:
    """The scalars of a list, or the one that stands for a list; lists in lists are taken apart."""
    value = mapping.get(key)
    return tuple(_scalars(value)) if value is not None else ()


def _scalars(value: Value) -> list[Text]:
    match value:
        case Scalar():
            return [] if value.kind == "null" else [value.text]
        case Sequence():
            return [text for item in value.items for text in _scalars(item)]
        case Mapping():
            return []


def mapping_in(mapping: Mapping, key: str) -> Mapping | None:
    """The mapping under a key."""
    value = mapping.get(key)
    return value if isinstance(value, Mapping) else None


def scalars_of(mapping: Mapping | None) -> dict[str, Text]:
    """The entries of a mapping that are scalars; null is empty."""
    if mapping is None:
        return {}
    return {key: entry.value.text for key, entry in mapping.entries.items() if isinstance(entry.value, Scalar)}


def items_in(mapping: Mapping, key: str) -> tuple[Mapping, ...]:
    """The mappings of the list under a key."""
    value = mapping.get(key)
    return tuple(item for item in value.items if isinstance(item, Mapping)) if isinstance(value, Sequence) else ()


def mapping_at(mapping: Mapping | None, *keys: str) -> Mapping | None:
    """The mapping that keys lead to, one below the other."""
    for key in keys:
        mapping = None if mapping is None else mapping_in(mapping, key)
    return mapping


def key_span(mapping: Mapping, key: str) -> FileLocation:
    """The place of a key."""
    return mapping.entries[key].key.span
