"""All rows of a capture as lines of JSON by table, whatever engine makes them."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from netdiag.errors import NetdiagError
from netdiag.io.captures import Captures
from netdiag.render.rows_json import json_lines
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.tables import NAMES, PAYLOAD_NAMES, table

TABLES = NAMES + PAYLOAD_NAMES
REFUSED = "refused"
Lines = Mapping[str, tuple[str, ...]]


def rows_of(path: Path) -> Lines:
    """The rows by table, in the order of the engine; files are named without their folder.

    What is no capture has no tables, but one line: what the engine says of it.
    """
    try:
        found = _read(path)
    except NetdiagError as error:
        return {REFUSED: (f"{error.message}: {error.hint}\n",)}
    return {name: tuple(_named(line, path) for line in json_lines(table(name).columns, rows)) for name, rows in found}


def _read(path: Path) -> Iterable[tuple[str, list[Any]]]:
    captures = Captures([str(path)])
    # Payloads hold requests with records back, so the other tables come from a reading of their own.
    with_payloads = Engine(EngineOptions(tables=frozenset(TABLES), payloads=True), [str(path)])
    without = Engine(EngineOptions(), [str(path)])
    for packet in captures.packets():
        without.feed(packet)
        with_payloads.feed(packet)
    captures.finish(without)
    captures.finish(with_payloads)
    rows = without.drain()
    return [(name, rows[name]) for name in NAMES] + [
        (name, rows) for name, rows in with_payloads.drain().items() if name in PAYLOAD_NAMES
    ]


def _named(line: str, path: Path) -> str:
    return line.replace(json.dumps(str(path)), json.dumps(path.name))


def summary(lines: Lines) -> dict[str, list[Any]]:
    """Of each table that has rows, how many and a hash of them in their order."""
    return {name: [len(rows), sha256("".join(rows).encode()).hexdigest()[:16]] for name, rows in lines.items() if rows}
