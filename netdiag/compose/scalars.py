"""How a YAML scalar is written: which characters of the file stand for which characters of its value.

The scanner knows the value, not the way back. Each style is read again here into (characters, from, to)
pieces; when the pieces do not spell the scanner's value (a form not foreseen), the whole scalar becomes one
piece that is not verbatim: positions get coarser, never wrong.
"""

import re
from collections.abc import Iterator

Piece = tuple[str, int, int]

_FOLD = r"[ \t]*(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))*[ \t]*"
_PLAIN = re.compile(rf"(?P<fold>{_FOLD})|(?P<text>[^ \t\r\n]+|[ \t]+)")
_SINGLE = re.compile(rf"(?P<fold>{_FOLD})|(?P<quote>'')|(?P<text>[^ \t\r\n']+|[ \t]+)")
_DOUBLE = re.compile(
    r"(?P<join>\\(?:\r\n|\r|\n)[ \t]*)"
    r"|(?P<escape>\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.))"
    rf"|(?P<fold>{_FOLD})|(?P<text>[^ \t\r\n\\]+|[ \t]+)"
)
_BREAK = re.compile(r"\r\n|\r|\n")
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip


def pieces_of(text: str, start: int, end: int, style: str | None, value: str) -> list[Piece]:
    """The pieces of the scalar that the characters start..end of `text` write in `style`."""
    raw = text[start:end]
    if style is None and raw == value:
        return [(value, start, end)]
    if style in ("'", '"') and raw[1:-1] == value:
        return [(value, start + 1, end - 1)]
    match style:
        case "'":
            pieces = list(_flow(_SINGLE, text, start + 1, end - 1))
        case '"':
            pieces = list(_flow(_DOUBLE, text, start + 1, end - 1))
        case "|" | ">":
            pieces = _block(text, start, end, value)
        case _:
            pieces = list(_flow(_PLAIN, text, start, end))
    if "".join(chars for chars, _, _ in pieces) != value:
        return [(value, start, end)]
    return pieces


def _flow(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Piece]:
    position = start
    while position < end and (match := pattern.match(text, position, end)):
        position = match.end()
        written = match.group()
        match match.lastgroup:
            case "fold":
                breaks = len(_BREAK.findall(written))
                yield " " if breaks == 1 else "\n" * (breaks - 1), match.start(), position
            case "quote":
                yield "'", match.start(), position
            case "join":
                yield "", match.start(), position
            case "escape":
                yield _unescaped(written[1:]), match.start(), position
            case _:
                yield written, match.start(), position


def _unescaped(body: str) -> str:
    if len(body) > 1:
        code = int(body[1:], 16)
        return chr(code) if code < 0x110000 else ""
    return _ESCAPES.get(body, "")


def _block(text: str, start: int, end: int, value: str) -> list[Piece]:
    """Aligns the lines below the header with the value: each line verbatim, what is between them not."""
    header = _BREAK.search(text, start, end)
    if header is None:
        return []
    pieces: list[Piece] = []
    done, gap = 0, header.end()
    for left, right in _lines(text, header.end(), end):
        content = text[left:right].lstrip(" ")
        if not content:
            continue
        break_end = done
        while break_end < len(value) and value[break_end] == "\n":
            break_end += 1
        if break_end == done and value[done : done + 1] == " " and pieces and not value.startswith(content, done):
            break_end += 1
        indent = len(value) - len(value[break_end:].lstrip(" ")) - break_end
        if not value.startswith(content, break_end + indent):
            return []
        begin = right - len(content) - indent
        if break_end > done:
            pieces.append((value[done:break_end], gap, begin))
        pieces.append((value[break_end : break_end + indent + len(content)], begin, right))
        done, gap = break_end + indent + len(content), right
    if done < len(value):
        pieces.append((value[done:], gap, end))
    return pieces


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        found = _BREAK.search(text, start, end)
        yield start, found.start() if found else end
        start = found.end() if found else end
