"""Java properties files as `java.util.Properties.load` of Java 17 reads them, with the places of what they say."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from netdiag.patterns import regex
from netdiag.values import dataclass

# Characters, and from where to where they stand in the text: as they are, or one that is escaped.
Piece = tuple[str, int, int]

_BLANKS = " \t\f"
# What Java's `String.trim` takes away.
_TRIMMED = "".join(map(chr, range(33)))
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_NATURAL_LINE = regex(r"[ \t\f]*(?P<content>[^\r\n]*)(?P<end>\r\n|\r|\n|\Z)")
# The key ends at the first separator that no backslash stands before.
_KEY = regex(r"(?P<key>(?:[^\\=: \t\f]|\\.)*)(?:[ \t\f]*[=:])?[ \t\f]*", re.DOTALL)
_ESCAPE = regex(r"\\u(?P<unicode>[0-9a-fA-F]{4})|\\(?P<letter>.)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """`value` without the blanks around it, which Kafka strips; `at` is where it begins, or would."""

    key: str
    value: list[Piece]
    at: int


def parse_properties(text: str) -> dict[str, str]:
    """The values by key; the last of equal keys wins."""
    return {each.key: "".join(chars for chars, _, _ in each.value) for each in properties(text)}


def properties(text: str) -> Iterator[Property]:
    """One after the other as they stand. Java refuses a file with a malformed \\u; here it is the letter."""
    for line in _logical_lines(text):
        found = _KEY.match(line.raw)
        assert found is not None
        key = "".join(chars for chars, _, _ in line.pieces(0, found.end("key")))
        value = _trimmed(line.pieces(found.end(), len(line.raw)))
        yield Property(key=key, value=value, at=value[0][1] if value else line.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """What lines that go on amount to: `starts` says where its stretches begin, in `raw` and in the text."""

    raw: str
    starts: list[tuple[int, int]]
    end: int

    def pieces(self, start: int, stop: int) -> list[Piece]:
        """What stands between two places of `raw`."""
        found: list[Piece] = []
        while start < stop:
            if (escape := _ESCAPE.match(self.raw, start, stop)) is not None:
                letter, end = escape["letter"], escape.end()
                chars = chr(int(escape["unicode"], 16)) if letter is None else _ESCAPED.get(letter, letter)
            else:
                end = min(stop, self._end_of_stretch(start))
                if (backslash := self.raw.find("\\", start, end)) > start:
                    end = backslash
                chars = self.raw[start:end]
            found.append((chars, self._place(start), self._place(end - 1) + 1))
            start = end
        return found

    def _place(self, at: int) -> int:
        begin, place = self.starts[bisect_right(self.starts, at, key=lambda start: start[0]) - 1]
        return place + at - begin

    def _end_of_stretch(self, at: int) -> int:
        behind = bisect_right(self.starts, at, key=lambda start: start[0])
        return self.starts[behind][0] if behind < len(self.starts) else len(self.raw)


def _logical_lines(text: str) -> Iterator[_Line]:
    stretches: list[str] = []
    starts: list[tuple[int, int]] = []
    length = end = 0
    for natural in _NATURAL_LINE.finditer(text):
        content = natural["content"]
        if not length and (not content or content[0] in "#!"):
            continue
        goes_on = (len(content) - len(content.rstrip("\\"))) % 2 == 1
        content = content[: len(content) - goes_on]
        end = natural.start("content") + len(content)
        if content:
            starts.append((length, natural.start("content")))
            stretches.append(content)
            length += len(content)
        if goes_on and natural.start("end") + 1 < len(text):
            continue
        yield _Line(raw="".join(stretches), starts=starts, end=end)
        stretches, starts, length = [], [], 0
    if length:
        yield _Line(raw="".join(stretches), starts=starts, end=end)


def _trimmed(pieces: list[Piece]) -> list[Piece]:
    """Without the blanks around them."""
    start, stop = 0, len(pieces)
    while start < stop and not pieces[start][0].strip(_TRIMMED):
        start += 1
    while start < stop and not pieces[stop - 1][0].strip(_TRIMMED):
        stop -= 1
    found = pieces[start:stop]
    if found and (chars := found[0][0]) != (left := chars.lstrip(_TRIMMED)):
        found[0] = (left, found[0][2] - len(left), found[0][2])
    if found and (chars := found[-1][0]) != (left := chars.rstrip(_TRIMMED)):
        found[-1] = (left, found[-1][1], found[-1][1] + len(left))
    return found
