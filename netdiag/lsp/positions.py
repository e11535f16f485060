"""Places of the Language Server Protocol: a line and a count of code units, for a byte of a document and back."""

from bisect import bisect_right

from netdiag.patterns import regex

_LINE_END = regex(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class Positions:
    """The lines of a document in UTF-8. `encoding` is the one agreed on with the client: utf-8, utf-16 or utf-32.

    Lines end as the protocol says (3.17, Text Documents): with a line feed, a carriage return, or both. An editor does
    not show a byte order mark, so it counts for nothing.
    """

    def __init__(self, data: bytes, encoding: str) -> None:
        self._data = data
        self._encoding = encoding
        first = len(_BOM) if data.startswith(_BOM) else 0
        self._starts = [first, *(match.end() for match in _LINE_END.finditer(data))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 0, of a byte; that of the nearest byte for one outside of the document."""
        offset = max(self._starts[0], min(offset, len(self._data)))
        line = bisect_right(self._starts, offset) - 1
        return line, self._units(self._data[self._starts[line] : offset])

    def offset(self, line: int, column: int) -> int:
        """The byte at a line and column; the end of the line, or of the document, where there is none."""
        if line < 0:
            return self._starts[0]
        if line >= len(self._starts):
            return len(self._data)
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self._data)
        text = self._data[start:end].rstrip(b"\r\n")
        if self._encoding == "utf-8":
            return start + max(0, min(column, len(text)))
        units = 0
        for character in text.decode("utf-8", "replace"):
            if units >= column:
                break
            units += 2 if self._encoding == "utf-16" and ord(character) > 0xFFFF else 1
            start += len(character.encode())
        return start

    def _units(self, data: bytes) -> int:
        if self._encoding == "utf-8":
            return len(data)
        text = data.decode("utf-8", "replace")
        if self._encoding == "utf-32":
            return len(text)
        return len(text) + sum(ord(character) > 0xFFFF for character in text)
