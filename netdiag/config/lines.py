"""The line of a TOML file at which a key stands: the standard library's parser does not tell.

A search line by line, for messages: in a string of several lines it may take text for a key. Where it finds nothing
it says so.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence

_NAME = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED = rf"{_NAME}(?:[ \t]*\.[ \t]*{_NAME})*"
_HEADER = re.compile(rf"[ \t]*\[\[?[ \t]*({_DOTTED})[ \t]*\]\]?[ \t]*(?:#.*)?\r?$")
_KEY = re.compile(rf"[ \t]*({_DOTTED})[ \t]*=")


def line_of(text: str, path: Sequence[str], value: str | None = None) -> int | None:
    """The line (from 1) of a key, or of a string in the value of this key; None where it is not found."""
    wanted = tuple(path)
    lines = text.split("\n")
    near: tuple[int, int] | None = None
    for number, full in _keys(lines):
        if full[: len(wanted)] == wanted:
            return number if value is None else _line_with(lines, number, value)
        if wanted[: len(full)] == full and (near is None or len(full) > near[0]):
            near = (len(full), number)
    if near is None:
        return None
    # The key stands in a table that is written on one line.
    return near[1] if value is None else _line_with(lines, near[1], value)


def column_of(text: str, line: int, value: str) -> int | None:
    """The column (from 1) of a string in a line."""
    found = text.split("\n")[line - 1].find(value)
    return None if found < 0 else found + 1


def _keys(lines: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    table: tuple[str, ...] = ()
    for number, line in enumerate(lines, 1):
        header = _HEADER.match(line)
        if header:
            table = _parts(header[1])
            yield number, table
            continue
        key = _KEY.match(line)
        if key:
            yield number, (*table, *_parts(key[1]))


def _parts(dotted: str) -> tuple[str, ...]:
    try:
        node: object = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    found: list[str] = []
    while isinstance(node, dict):
        ((name, node),) = node.items()
        found.append(name)
    return tuple(found)


def _line_with(lines: Sequence[str], first: int, value: str) -> int:
    for number in range(first, len(lines) + 1):
        if f'"{value}"' in lines[number - 1] or f"'{value}'" in lines[number - 1]:
            return number
    return first
