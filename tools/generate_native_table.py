"""Generate native/wire/src/kafka/messages.rs, the native engine's table of messages, from Kafka's in messages.json.

    python tools/generate_native_table.py [--check]

The capture engine builds without the Python package beside it, so its table is committed; it says what messages.json
says, but for defaults, which a reader of captures has no use for. `--check` compares instead of writing.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "netdiag" / "kafka" / "protocol" / "messages.json"
TARGET = ROOT / "native" / "wire" / "src" / "kafka" / "messages.rs"

HEAD = """\
//! The layouts of Kafka's messages: generated from netdiag/kafka/protocol/messages.json, do not edit.
//!
//! tools/generate_native_table.py writes this file, and a test holds it against the table that it is made from.

use super::table::Count::{Many, One};
use super::table::Kind::*;
use super::table::{ALL, Api, Entry, Message, NEVER};
"""


def rendered(table: dict[str, Any]) -> str:
    """The source of the native table."""
    apis = table["apis"]
    if [api["key"] for api in apis] != list(range(len(apis))):
        raise SystemExit("the api keys have gaps: the native table looks a key up by its position")
    lines = [HEAD, "/// By api key.", f"pub(super) static APIS: [Api; {len(apis)}] = ["]
    first = 0
    for api in apis:
        low, high = _bounds(api["request"]["versions"])
        assert high is not None, f"{api['name']}: versions without an end"
        if api["response"]["versions"] != api["request"]["versions"]:
            raise SystemExit(f"{api['name']}: request and response have different versions")
        lines += ["    Api {", f'        name: "{api["name"]}",', f"        first: {first},"]
        lines += [f"        versions: ({low}, {high}),"]
        for direction in ("request", "response"):
            message = api[direction]
            lines += [f"        {direction}: Message {{", f"            flexible: {_range(message['flexible'])},"]
            lines += ["            fields: &[", *_entries(message["fields"], 4), "            ],", "        },"]
        lines += ["    },"]
        first += high - low + 1
    lines += ["];", "", "/// So many pairs of api key and version there are."]
    lines += [f"pub(super) const PAIRS: usize = {first};", ""]
    return "\n".join(lines)


def _entries(fields: list[dict[str, Any]], depth: int) -> Iterator[str]:
    indent = "    " * depth
    for field in fields:
        if "flexible" in field:
            raise SystemExit(f"{field['name']}: the native table knows no field that is never compact")
        count = "Many" if field["type"].startswith("[]") else "One"
        kind = field["type"].removeprefix("[]").capitalize()
        ranges = f"{_range(field['versions'])}, {_range(field.get('nullable', ''))}"
        tag = f"Some({field['tag']})" if "tag" in field else "None"
        start = f'{indent}Entry("{field["name"]}", {count}({kind}), {ranges}, {tag}, &['
        if "fields" not in field:
            yield start + "]),"
            continue
        yield start
        yield from _entries(field["fields"], depth + 1)
        yield f"{indent}]),"


def _range(text: str) -> str:
    if text in ("", "none"):
        return "NEVER"
    low, high = _bounds(text)
    return "ALL" if (low, high) == (0, None) else f"({low}, {'i16::MAX' if high is None else high})"


def _bounds(text: str) -> tuple[int, int | None]:
    """The grammar of the table: "3", "0-7" or "3+", where "+" is bounded by the versions of the message."""
    if text.endswith("+"):
        return int(text[:-1]), None
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def main(arguments: list[str]) -> int:
    """Write the table, or compare it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args(arguments).check
    text = rendered(json.loads(SOURCE.read_text(encoding="utf-8")))
    if not check:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET.relative_to(ROOT)} is not what {SOURCE.relative_to(ROOT)} says: run {Path(__file__).name}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
