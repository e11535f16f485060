"""A Java properties file as plain values, as `java.util.Properties.load` reads it, without their places.

`deployment.properties_file` reads the same grammar with the place of every value.
"""

import re

from netdiag.patterns import regex

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = regex(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_BLANKS = " \t\f"
# The key ends at the first separator that no backslash stands before.
_KEY = regex(r"(?P<key>(?:[^\\=: \t\f]|\\.)*)(?P<rest>.*)", re.DOTALL)


def parse_properties(text: str) -> dict[str, str]:
    """The values by key, without the blanks around them, which Kafka strips; the last of equal keys wins."""
    found: dict[str, str] = {}
    for line in _logical_lines(text):
        match = _KEY.match(line)
        assert match is not None
        rest = match["rest"].lstrip(_BLANKS)
        if rest[:1] in ("=", ":"):
            rest = rest[1:].lstrip(_BLANKS)
        found[_unescaped(match["key"])] = _unescaped(rest).strip()
    return found


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    open_line: str | None = None
    for line in re.split(r"\r\n|\n|\r", text):
        piece = line.lstrip(_BLANKS)
        if open_line is None and (not piece or piece[0] in "#!"):
            continue
        whole = (open_line or "") + piece
        if _ends_open(piece):
            open_line = whole[:-1]
            continue
        lines.append(whole)
        open_line = None
    if open_line:
        lines.append(open_line)
    return lines


def _ends_open(piece: str) -> bool:
    """Whether the line ends with a backslash that is not itself escaped."""
    return (len(piece) - len(piece.rstrip("\\"))) % 2 == 1


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else _ESCAPES.get(m[2], m[2]), text)
