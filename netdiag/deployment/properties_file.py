"""A Java properties file, as Kafka reads server.properties: every value with its place.

Source: `java.util.Properties.load`: comments, three separators, escapes, lines continued by a backslash; the last of
equal keys wins. Kafka strips the blanks around a value.
"""

import re
from collections.abc import Iterator

from netdiag.compose.positions import Source, Text, assemble

Piece = tuple[str, int, int]
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_UNICODE = re.compile("u([0-9a-fA-F]{4})")
_BLANKS = " \t\f"


def read_properties(source: Source) -> dict[str, Text]:
    """The values by key; UnicodeDecodeError where the file is not text."""
    found: dict[str, Text] = {}
    for pieces in _lines(source.text):
        cut = next((i for i, (char, start, end) in enumerate(pieces) if end - start == 1 and char in "=: \t\f"), None)
        key = "".join(char for char, _, _ in pieces[:cut])
        rest = pieces[cut:] if cut is not None else []
        start = _skip(rest, 0)
        if start < len(rest) and rest[start][0] in "=:" and rest[start][2] - rest[start][1] == 1:
            start = _skip(rest, start + 1)
        value = rest[start:]
        while value and value[-1][0].isspace():
            value.pop()
        first = value[0][1] if value else pieces[-1][2]
        found[key] = assemble(source, _runs(value), first, value[-1][2] if value else first)
    return found


def _runs(pieces: list[Piece]) -> Iterator[Piece]:
    """Neighbours that stand in the file as they are, as one piece."""
    run: list[Piece] = []
    for piece in pieces:
        plain = piece[2] - piece[1] == 1
        if run and not (plain and run[-1][2] == piece[1]):
            yield "".join(char for char, _, _ in run), run[0][1], run[-1][2]
            run = []
        if plain:
            run.append(piece)
        else:
            yield piece
    if run:
        yield "".join(char for char, _, _ in run), run[0][1], run[-1][2]


def _skip(pieces: list[Piece], start: int) -> int:
    while start < len(pieces) and pieces[start][0] in _BLANKS and pieces[start][2] - pieces[start][1] == 1:
        start += 1
    return start


def _lines(text: str) -> Iterator[list[Piece]]:
    """The logical lines, character by character as (character, from, to) with escapes resolved."""
    pieces: list[Piece] = []
    index, at_start = 0, True
    while index < len(text):
        char = text[index]
        if at_start and (char in _BLANKS or char in "\r\n"):
            index += 1
        elif at_start and not pieces and char in "#!":
            index = _line_end(text, index)
        elif char in "\r\n":
            if pieces:
                yield pieces
            pieces, at_start = [], True
            index += 1
        elif char == "\\":
            at_start = False
            following = text[index + 1 : index + 2]
            unicode = _UNICODE.match(text, index + 1)
            if following in ("\r", "\n", ""):
                index += 3 if text[index + 1 : index + 3] == "\r\n" else 2
                at_start = True
            else:
                end = unicode.end() if unicode else index + 2
                pieces.append((chr(int(unicode[1], 16)) if unicode else _ESCAPES.get(following, following), index, end))
                index = end
        else:
            at_start = False
            pieces.append((char, index, index + 1))
            index += 1
    if pieces:
        yield pieces


def _line_end(text: str, index: int) -> int:
    ends = [end for end in (text.find("\n", index), text.find("\r", index)) if end >= 0]
    return min(ends, default=len(text))
