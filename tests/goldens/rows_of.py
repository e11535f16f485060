"""All rows of a capture as lines of JSON by table."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from netdiag.errors import NetdiagError
from netdiag.traffic import native
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import NAMES, PAYLOAD_NAMES

TABLES = NAMES + PAYLOAD_NAMES
REFUSED = "refused"
Lines = Mapping[str, tuple[str, ...]]


def rows_of(path: Path) -> Lines:
    """The rows by table, in the order of the engine; files are named without their folder.

    What is no capture has no tables, but one line: what the engine says of it.
    """
    try:
        # Payloads hold requests with records back, so the other tables come from a reading of their own.
        rows = {**_read(path, TABLES, PAYLOAD_NAMES), **_read(path, NAMES, NAMES)}
    except NetdiagError as error:
        return {REFUSED: (f"{error.message}: {error.hint}\n",)}
    return {name: rows[name] for name in TABLES}


def _read(path: Path, filled: tuple[str, ...], wanted: tuple[str, ...]) -> Lines:
    options = ReadOptions(tables=frozenset(filled))
    found: dict[str, list[str]] = {name: [] for name in wanted}
    for ready in native.read([str(path)], options, names=[path.name]):
        for name in wanted:
            for batch in ready.get(name, ()):
                # Not at the ends of lines that JSON leaves as they are.
                found[name] += (f"{line}\n" for line in batch.to_json().decode().split("\n")[:-1])
    return {name: tuple(lines) for name, lines in found.items()}


def summary(lines: Lines) -> dict[str, list[Any]]:
    """Of each table that has rows, how many and a hash of them in their order."""
    return {name: [len(rows), sha256("".join(rows).encode()).hexdigest()[:16]] for name, rows in lines.items() if rows}
