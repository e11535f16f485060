"""Generate netdiag/kafka/protocol/messages.json from the message schemas inside Kafka's own client jars.

    python tools/generate_protocol_table.py kafka-clients-3.9.1.jar ... kafka-clients-4.4.0.jar [--check]

Oldest release first: a version that several releases know is taken from the newest of them, and versions that a newer
release dropped (KIP-896) come from the older one. `tools/generate_protocol_table.md` says where the jars come from and
what the table looks like. The output depends on the jars alone: same jars, same bytes.
"""

import argparse
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parent.parent / "netdiag" / "kafka" / "protocol" / "messages.json"
PRIMITIVES = {"bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "float64"}
PRIMITIVES |= {"uuid", "string", "bytes", "records"}
DATA_MESSAGES = ("ConsumerProtocolAssignment", "ConsumerProtocolSubscription")
UNBOUNDED = 32767


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The schemas of one Kafka release, by message name."""

    name: str
    messages: dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One field as it stands in one message version."""

    name: str
    type: str
    nullable: bool
    tag: int | None
    default: Any
    never_flexible: bool
    fields: "tuple[Node, ...]"


@dataclass(slots=True, kw_only=True)
class Merged:
    """One field over all versions of its message."""

    node: Node
    versions: list[int]
    nullable: list[int]
    fields: "list[Merged]"


def read_release(jar: Path) -> Release:
    """Read every message schema of a kafka-clients jar; its release is taken from the file name."""
    match = re.fullmatch(r"kafka-clients-(\d+(?:\.\d+)+)\.jar", jar.name)
    if match is None:
        raise SystemExit(f"{jar}: not named kafka-clients-<release>.jar")
    messages = {}
    with zipfile.ZipFile(jar) as archive:
        for member in archive.namelist():
            if re.fullmatch(r"common/message/\w+\.json", member):
                text = re.sub(r"^\s*//.*$", "", archive.read(member).decode(), flags=re.MULTILINE)
                schema = json.loads(text)
                messages[schema["name"]] = schema
    return Release(name=match[1], messages=messages)


def version_range(text: str | None) -> range:
    """Kafka's version grammar: "none", "3", "0-7", "3+"."""
    if text is None or text == "none":
        return range(0)
    if text.endswith("+"):
        return range(int(text[:-1]), UNBOUNDED + 1)
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def resolve_fields(fields: Iterable[dict[str, Any]], structs: dict[str, Any], version: int) -> tuple[Node, ...]:
    """The fields that exist in one version, common structs written out."""
    nodes = []
    for field in fields:
        if version not in version_range(field["versions"]):
            continue
        array = field["type"].startswith("[]")
        element = field["type"].removeprefix("[]")
        inner = () if element in PRIMITIVES else field.get("fields") or structs[element]
        kind = ("[]" if array else "") + (element if element in PRIMITIVES else "struct")
        tagged = version in version_range(field.get("taggedVersions"))
        nodes.append(
            Node(
                name=snake_case(field["name"]),
                type=kind,
                nullable=version in version_range(field.get("nullableVersions")),
                tag=int(field["tag"]) if tagged else None,
                default=default_of(field.get("default"), kind),
                never_flexible=field.get("flexibleVersions") == "none",
                fields=resolve_fields(inner, structs, version),
            )
        )
    return tuple(nodes)


def snake_case(name: str) -> str:
    """BrokerId -> broker_id, ISRNodes -> isr_nodes."""
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def default_of(value: Any, kind: str) -> Any:
    """A schema's default as a JSON value; the type's own zero where the schema names none."""
    if value == "null":
        return None
    if kind.startswith("[]") or kind == "struct":
        return []
    if kind in ("string", "bytes", "records", "uuid"):
        return value or ""
    if kind == "bool":
        return str(value).lower() == "true"
    return int(str(value or 0), 0)


def versions_of(releases: Iterable[Release], name: str) -> dict[int, tuple[dict[str, Any], Release]]:
    """For each version of a message the schema that describes it: the newest that knows the version."""
    found = {}
    for release in releases:
        schema = release.messages.get(name)
        if schema is not None:
            for version in version_range(schema["validVersions"]):
                found[version] = (schema, release)
    return dict(sorted(found.items()))


def merge(trees: dict[int, tuple[Node, ...]]) -> list[Merged]:
    """Lay the field lists of all versions over one another, each field with the versions that have it."""
    merged: list[Merged] = []
    children: list[dict[int, tuple[Node, ...]]] = []
    for version in sorted(trees, reverse=True):
        position = 0
        for node in trees[version]:
            index = next((i for i, m in enumerate(merged) if same_field(m.node, node)), None)
            if index is None:
                merged.insert(position, Merged(node=node, versions=[], nullable=[], fields=[]))
                children.insert(position, {})
                index = position
            elif merged[index].node.default != node.default:
                raise SystemExit(f"'{node.name}' changes its default in version {version}")
            merged[index].versions.append(version)
            if node.nullable:
                merged[index].nullable.append(version)
            children[index][version] = node.fields
            position = index + 1
    for entry, inner in zip(merged, children, strict=True):
        entry.fields = merge(inner)
    return merged


def same_field(one: Node, other: Node) -> bool:
    """Whether two versions speak of one field: fields that changed their type or tag stand twice in the table."""
    return all(getattr(one, a) == getattr(other, a) for a in ("name", "type", "tag", "never_flexible"))


def pick(fields: list[Merged], version: int) -> tuple[Node, ...]:
    """The inverse of `merge`, for proving that nothing was lost."""
    return tuple(
        Node(
            name=m.node.name,
            type=m.node.type,
            nullable=version in m.nullable,
            tag=m.node.tag,
            default=m.node.default,
            never_flexible=m.node.never_flexible,
            fields=pick(m.fields, version),
        )
        for m in fields
        if version in m.versions
    )


def ranges(versions: Iterable[int], last: int) -> str:
    """A set of versions as "0-3", "5+" or "0-1,4+"; "+" means up to the newest version of the message."""
    parts: list[list[int]] = []
    for version in sorted(versions):
        if parts and parts[-1][1] == version - 1:
            parts[-1][1] = version
        else:
            parts.append([version, version])
    return ",".join(f"{a}+" if b == last else str(a) if a == b else f"{a}-{b}" for a, b in parts)


def message_entry(releases: list[Release], name: str) -> dict[str, Any]:
    """One message over all its versions: {"versions", "flexible", "fields"}."""
    found = versions_of(releases, name)
    last = max(found)
    trees = {}
    for version, (schema, _) in found.items():
        structs = {struct["name"]: struct["fields"] for struct in schema.get("commonStructs", [])}
        trees[version] = resolve_fields(schema["fields"], structs, version)
    merged = merge(trees)
    for version, tree in trees.items():
        if pick(merged, version) != tree:
            raise SystemExit(f"{name}: version {version} cannot be told from the merged table")
    flexible = [v for v, (schema, _) in found.items() if v in version_range(schema["flexibleVersions"])]
    return {
        "versions": ranges(found, UNBOUNDED),
        "flexible": ranges(flexible, last),
        "fields": [field_entry(m, last) for m in merged],
    }


def field_entry(merged: Merged, last: int) -> dict[str, Any]:
    """One field as the table writes it; what equals the ordinary case is left out."""
    node = merged.node
    entry: dict[str, Any] = {"name": node.name, "type": node.type, "versions": ranges(merged.versions, last)}
    if merged.nullable:
        entry["nullable"] = ranges(merged.nullable, last)
    if node.tag is not None:
        entry["tag"] = node.tag
    if node.default != default_of(None, node.type):
        entry["default"] = node.default
    if node.never_flexible:
        entry["flexible"] = False
    if merged.fields:
        entry["fields"] = [field_entry(m, last) for m in merged.fields]
    return entry


def build_table(releases: list[Release]) -> dict[str, Any]:
    """The whole table: headers, the messages of every api key, and the data that travels inside them."""
    names: dict[int, str] = {}
    for release in releases:
        for schema in release.messages.values():
            if schema["type"] == "request":
                names[schema["apiKey"]] = schema["name"].removesuffix("Request")
    apis = []
    for key in sorted(names):
        spellings = {
            schema["name"].removesuffix("Request")
            for release in releases
            for schema in release.messages.values()
            if schema["type"] == "request" and schema["apiKey"] == key
        }
        united = [unify(release, key, names[key]) for release in releases]
        apis.append(
            {
                "key": key,
                "name": names[key],
                "once": sorted(spellings - {names[key]}),
                "releases": dict(supported(united, names[key] + "Request")),
                "request": message_entry(united, names[key] + "Request"),
                "response": message_entry(united, names[key] + "Response"),
            }
        )
    return {
        "kafka": [release.name for release in releases],
        "headers": {name: message_entry(releases, name) for name in ("RequestHeader", "ResponseHeader")},
        "data": {name: message_entry(releases, name) for name in DATA_MESSAGES},
        "apis": apis,
    }


def unify(release: Release, key: int, name: str) -> Release:
    """The two messages of one api key under the name that the newest release gives them."""
    suffix = {"request": "Request", "response": "Response"}
    messages = {
        name + suffix[schema["type"]]: schema
        for schema in release.messages.values()
        if schema.get("apiKey") == key and schema["type"] in suffix
    }
    return Release(name=release.name, messages=messages)


def supported(releases: Iterable[Release], name: str) -> Iterator[tuple[str, str]]:
    """Per release the versions that it declares; "~" marks a newest version that was not yet stable."""
    for release in releases:
        schema = release.messages.get(name)
        if schema is not None and schema["validVersions"] != "none":
            unstable = str(schema.get("latestVersionUnstable", "false")).lower() == "true"
            yield release.name, schema["validVersions"] + ("~" if unstable else "")


def render(value: Any, indent: int = 0) -> str:
    """JSON with one field a line, so that a change of the table is a readable diff."""
    pad = " " * indent
    if isinstance(value, dict) and ("fields" in value or "apis" in value or "request" in value or indent == 1):
        body = ",\n".join(f"{pad} {json.dumps(k)}:{render(v, indent + 1)}" for k, v in value.items())
        return "{\n" + body + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"{pad} {render(v, indent + 1)}" for v in value) + "]"
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def main(argv: list[str]) -> int:
    """Write the table, or with --check say whether the committed one is what the jars give."""
    parser = argparse.ArgumentParser(description="Generate the Kafka message table from kafka-clients jars.")
    parser.add_argument("jars", nargs="+", type=Path, help="kafka-clients-<release>.jar, oldest release first")
    parser.add_argument("--check", action="store_true", help="compare with the committed table, write nothing")
    parser.add_argument("--output", type=Path, default=TABLE)
    options = parser.parse_args(argv)
    text = render(build_table([read_release(jar) for jar in options.jars])) + "\n"
    if options.check:
        same = options.output.read_text(encoding="utf-8") == text
        print("equal" if same else "different")
        return 0 if same else 1
    options.output.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
