"""Java properties files as `java.util.Properties.load` of Java 17 reads them, with the place of every character."""

from collections.abc import Iterator

from netdiag.patterns import regex
from netdiag.values import dataclass

# A character, and from where to where it stands in the text: an escaped one is longer than one.
Piece = tuple[str, int, int]

_BLANKS = " \t\f"
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LINE_END = regex(r"[\r\n]")
_UNICODE = regex(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """`value` without the blanks around it, which Kafka strips; `at` is where it begins, or would."""

    key: str
    value: list[Piece]
    at: int


def parse_properties(text: str) -> dict[str, str]:
    """The values by key; the last of equal keys wins."""
    return {each.key: "".join(char for char, _, _ in each.value) for each in properties(text)}


def properties(text: str) -> Iterator[Property]:
    """One after the other as they stand. Java refuses a file with a malformed \\u; here it is the letter."""
    for line, end in _logical_lines(text):
        pieces = _unescaped(line)
        cut = next((at for at, piece in enumerate(pieces) if _is_plain(piece, "=:" + _BLANKS)), len(pieces))
        start = cut
        while start < len(pieces) and _is_plain(pieces[start], _BLANKS):
            start += 1
        if start < len(pieces) and _is_plain(pieces[start], "=:"):
            start += 1
        stop = len(pieces)
        while start < stop and pieces[start][0] <= " ":
            start += 1
        while start < stop and pieces[stop - 1][0] <= " ":
            stop -= 1
        value = pieces[start:stop]
        yield Property(key="".join(char for char, _, _ in pieces[:cut]), value=value, at=value[0][1] if value else end)


def _logical_lines(text: str) -> Iterator[tuple[list[tuple[str, int]], int]]:
    """The lines, those that go on joined: each character with its place; where the line ends."""
    line: list[tuple[str, int]] = []
    skips_blanks, continues, is_escaped = True, False, False
    index = 0
    while index < len(text):
        char = text[index]
        index += 1
        if skips_blanks:
            if char in _BLANKS or (char in "\r\n" and not continues):
                continue
            skips_blanks = continues = False
        if char not in "\r\n":
            if not line and char in "#!":
                end = _LINE_END.search(text, index)
                index, skips_blanks = end.start() if end else len(text), True
            else:
                line.append((char, index - 1))
                is_escaped = char == "\\" and not is_escaped
        elif not line:
            skips_blanks = True
        elif is_escaped and index < len(text):
            line.pop()
            skips_blanks, continues, is_escaped = True, True, False
            index += text[index - 1 : index + 1] == "\r\n"
        else:
            yield line[: len(line) - is_escaped], index - 1
            line, skips_blanks, is_escaped = [], True, False
    if line:
        yield line[: len(line) - is_escaped], index


def _unescaped(line: list[tuple[str, int]]) -> list[Piece]:
    raw = "".join(char for char, _ in line)
    pieces: list[Piece] = []
    at = 0
    while at < len(line):
        char, start = line[at]
        length = 1
        if char == "\\" and at + 1 < len(line):
            unicode = _UNICODE.match(raw, at)
            length = 6 if unicode else 2
            char = chr(int(unicode[1], 16)) if unicode else _ESCAPED.get(raw[at + 1], raw[at + 1])
        pieces.append((char, start, line[at + length - 1][1] + 1))
        at += length
    return pieces


def _is_plain(piece: Piece, chars: str) -> bool:
    """Whether it is one of these, and not escaped."""
    return piece[0] in chars and piece[2] - piece[1] == 1
