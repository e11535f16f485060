"""Find what a struct of a message says about a topic: its name, its id, or both; for the reader's source.

Names of fields in the source are made here, too: `v_` and the path of the field.
"""

from typing import NamedTuple

from netdiag.kafka.protocol import Field, Layout
from netdiag.traffic.engine.bodies import roles

_TOPIC = 2
"""The resource type of a topic (ConfigResource.Type, ResourceType)."""


class ToldTopic(NamedTuple):
    """The topic of a struct.

    `name`, `number`: its name and its id in the source, "" where the struct has none. `after`: the lines that follow
    a field, by path. `last`: the path of the field behind which all is known.
    """

    name: str
    number: str
    after: dict[str, list[str]]
    last: str


def told_topic(api_key: int, layout: Layout, path: str) -> ToldTopic | None:
    """What the fields of a struct say about a topic."""
    fields = [field for field in layout.fields if _is_topic(api_key, field, path)]
    if not fields:
        resource = _resource(layout, path)
        return ToldTopic("", "", resource, "") if resource else None
    name = _field_of("string", fields, path)
    number = _field_of("uuid", fields, path)
    after = {join(path, field.name): _lines(field, field is fields[-1], name, number) for field in fields}
    return ToldTopic(name, number, after, join(path, fields[-1].name))


def _is_topic(api_key: int, field: Field, path: str) -> bool:
    """Whether a field holds the name or the id of a topic."""
    if field.array:
        return False
    if field.kind == "string":
        return roles.is_topic_name(api_key, join(path, field.name))
    return field.name == "topic_id"


def _field_of(kind: str, fields: list[Field], path: str) -> str:
    return "".join(name_of(join(path, field.name)) for field in fields if field.kind == kind)


def _lines(field: Field, last: bool, name: str, number: str) -> list[str]:
    """What follows once the name or the id of a topic was read; once both are there, the pair of them."""
    lines = []
    if field.kind == "string":
        lines += [f"if {name}:", f"    topics.append({name})"]
    elif not name:
        lines += [f"if {number} != ZERO:", f"    topics.append({number})"]
    if last and name and number:
        lines += [f"if {number} != ZERO:", f"    if {name}:", f"        names.append(({number}, {name}))"]
        lines += ["    else:", f"        topics.append({number})"]
    return lines


def _resource(layout: Layout, path: str) -> dict[str, list[str]]:
    """Resources of configurations and ACLs have a type; some are topics."""
    pair = [field.name for field in layout.fields if field.name in ("resource_type", "resource_name")]
    if len(pair) < 2:
        return {}
    kind, name = (name_of(join(path, each)) for each in ("resource_type", "resource_name"))
    return {join(path, pair[-1]): [f"if {kind} == {_TOPIC} and {name}:", f"    topics.append({name})"]}


def join(path: str, name: str) -> str:
    """The path of a field inside a struct."""
    return f"{path}.{name}" if path and name else path or name


def name_of(path: str) -> str:
    """The name of a field in the source."""
    return "v_" + path.replace(".", "__").rstrip("#")
