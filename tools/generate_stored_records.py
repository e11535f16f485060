"""Generate netdiag/kafka/protocol/stored_records.json from the schemas inside the jars of a Kafka server.

    python -m tools.generate_stored_records libs/ [--check]

`libs` is the folder with the jars of one release (kafka-metadata-4.3.1.jar, ...), the newest that is known: it reads
what all older ones wrote. The output depends on the jars alone.
"""

import argparse
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.generate_protocol_table import Release, message_entry

TABLE = Path(__file__).resolve().parent.parent / "netdiag" / "kafka" / "protocol" / "stored_records.json"
# Who writes the records of an internal topic.
COORDINATORS = {
    "__consumer_offsets": "kafka-group-coordinator",
    "__transaction_state": "kafka-transaction-coordinator",
    "__share_group_state": "kafka-share-coordinator",
}
METADATA = "kafka-metadata"


def schemas(folder: Path, name: str) -> tuple[str, list[dict[str, Any]]]:
    """The release of the one jar of this name, and every schema in it."""
    found = [
        (path, match[1]) for path in folder.iterdir() if (match := re.fullmatch(name + r"-([\d.]+)\.jar", path.name))
    ]
    if len(found) != 1:
        raise SystemExit(f"{folder}: has {len(found)} jars {name}-<release>.jar")
    path, release = found[0]
    with zipfile.ZipFile(path) as archive:
        members = sorted(each for each in archive.namelist() if each.endswith(".json"))
        texts = [re.sub(r"^\s*//.*$", "", archive.read(each).decode(), flags=re.MULTILINE) for each in members]
    return release, [json.loads(text) for text in texts]


def records(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each topic with the release, and by their numbers the kinds of its records: name, key and value."""
    for topic, jar in COORDINATORS.items():
        release, found = schemas(folder, jar)
        kinds: dict[str, Any] = {}
        for schema in found:
            part = {"coordinator-key": "key", "coordinator-value": "value"}.get(schema["type"])
            if part is not None:
                kind = kinds.setdefault(str(schema["apiKey"]), {"name": schema["name"].removesuffix(part.title())})
                kind[part] = entry(release, schema)
        yield topic, release, dict(sorted(kinds.items(), key=lambda item: int(item[0])))
    release, found = schemas(folder, METADATA)
    kinds = {
        str(schema["apiKey"]): {"name": schema["name"], "value": entry(release, schema)}
        for schema in sorted(found, key=lambda schema: schema.get("apiKey", -1))
        if schema["type"] == "metadata"
    }
    yield "__cluster_metadata", release, kinds


def entry(release: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The fields of one schema over all its versions."""
    for fields in (schema["fields"], *(struct["fields"] for struct in schema.get("commonStructs", ()))):
        add_versions(fields)
    return message_entry([Release(name=release, messages={schema["name"]: schema})], schema["name"])


def add_versions(fields: list[dict[str, Any]]) -> None:
    """A tagged field need not say its versions again."""
    for field in fields:
        field.setdefault("versions", field.get("taggedVersions"))
        add_versions(field.get("fields", []))


def main(argv: list[str]) -> int:
    """Write the table, or with --check say whether the committed one is what the jars give."""
    parser = argparse.ArgumentParser(
        description="Generate the table of stored records from the jars of a Kafka server."
    )
    parser.add_argument("libs", type=Path, help="the folder with the jars of one release")
    parser.add_argument("--check", action="store_true", help="compare with the committed table, write nothing")
    options = parser.parse_args(argv)
    found = list(records(options.libs))
    table = {
        "kafka": sorted({release for _, release, _ in found}),
        "topics": {topic: kinds for topic, _, kinds in found},
    }
    text = json.dumps(table, indent=1) + "\n"
    if options.check:
        same = TABLE.read_text(encoding="utf-8") == text
        print("equal" if same else "different")
        return 0 if same else 1
    TABLE.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
