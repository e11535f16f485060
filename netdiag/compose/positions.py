"""Where text came from: spans in files, and values whose every character can be traced back to one.

A `Text` is a value after interpolation. Its segments tile the value from left to right and each says
which bytes of the file it stands for: character by character when `verbatim`, as a whole otherwise (an
escape, a folded line break, a `${VAR}` expression). Slicing keeps the trace, so a port of an entry of a
list of a service still knows its bytes.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import field, replace
from itertools import accumulate
from typing import Self

from netdiag.findings import FileLocation
from netdiag.values import dataclass

# Where text is not ASCII, bytes and characters are counted from the last of the marks at this distance.
_BLOCK = 256


class Source:
    """One file's bytes, and the arithmetic between its bytes, characters, lines and columns."""

    __slots__ = ("_ascii", "_bom", "_marks", "_starts", "_text", "data", "newline", "path", "tree")

    def __init__(self, path: str, text: bytes | str) -> None:
        self.path = path
        self.data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        self.newline = "\r\n" if b"\r\n" in self.data else "\n"
        self._ascii = self.data.isascii()
        self._bom = 3 if self.data.startswith(b"\xef\xbb\xbf") else 0
        self._text: str | None = None
        self._starts: list[int] | None = None
        self._marks: list[int] | None = None
        # What `nodes.load_nodes` read out of it, so that nobody reads it twice.
        self.tree: object = None

    @property
    def text(self) -> str:
        """The characters, without a byte order mark; UnicodeDecodeError when the bytes are not UTF-8."""
        if self._text is None:
            self._text = self.data[self._bom :].decode("utf-8")
        return self._text

    def offset(self, index: int) -> int:
        """The byte offset of character `index` of the text."""
        if self._ascii:
            return index
        block = index // _BLOCK
        return self._blocks()[block] + len(self.text[block * _BLOCK : index].encode())

    def _blocks(self) -> list[int]:
        """The byte offsets of every `_BLOCK`th character; UnicodeDecodeError when the bytes are not UTF-8."""
        if self._marks is None:
            # The last one stands before what is no whole block.
            ends = range(_BLOCK, len(self.text) + 1, _BLOCK)
            sizes = (len(self.text[end - _BLOCK : end].encode()) for end in ends)
            self._marks = list(accumulate(sizes, initial=self._bom))
        return self._marks

    def _characters(self, offset: int) -> int:
        """How many characters of the text stand before a byte."""
        marks = self._blocks()
        block = max(bisect_right(marks, offset) - 1, 0)
        return block * _BLOCK + len(self.data[marks[block] : offset].decode("utf-8", "replace"))

    def __repr__(self) -> str:
        return f"Source({self.path!r}, {len(self.data)} bytes)"

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column (both from 1, column in characters) of a byte offset."""
        if self._starts is None:
            self._starts = _line_starts(self.data)
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        if self._ascii:
            return line, offset - start + 1
        if offset - start > _BLOCK:
            with suppress(UnicodeDecodeError):
                return line, self._characters(offset) - self._characters(start) + 1
        head = self.data[start:offset].decode("utf-8", "replace")
        return line, len(head.removeprefix("\ufeff") if line == 1 else head) + 1

    def char_span(self, start: int, end: int) -> FileLocation:
        """The span of the characters start..end of the text."""
        return self.span(self.offset(start), self.offset(end))

    def span(self, start: int, end: int) -> FileLocation:
        """The span of the bytes start..end."""
        line, column = self.place(start)
        end_line, end_column = self.place(end)
        return FileLocation(
            path=self.path,
            start=start,
            end=end,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
        )


def _line_starts(data: bytes) -> list[int]:
    starts = [0]
    lone_returns = data.count(b"\r") != data.count(b"\r\n")
    position = data.find(b"\n")
    while position >= 0:
        starts.append(position + 1)
        position = data.find(b"\n", position + 1)
    if lone_returns:
        starts += [i + 1 for i, byte in enumerate(data) if byte == 13 and data[i + 1 : i + 2] != b"\n"]
        starts.sort()
    return starts


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Characters value_start..value_end of a value, and the bytes start..end of the file that stand for them.

    `variable` is the variable that was substituted, `origin` the span (of this or another file) that holds
    exactly these characters when the bytes start..end do not: the default inside `${VAR:-default}`, the
    value in `.env`. `unset` marks a variable that had no value and no default.
    """

    value_start: int
    value_end: int
    start: int
    end: int
    verbatim: bool = True
    variable: str | None = None
    origin: FileLocation | None = None
    unset: bool = False
    origin_source: Source | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A located scalar: its value after interpolation, its place, and the trace from one to the other.

    `unset` names the variables in it that had neither a value nor a default. A Text made without segments
    (from a literal in a test, from a computed value) answers every question with its whole span.
    """

    value: str
    span: FileLocation
    segments: tuple[Segment, ...] = ()
    unset: tuple[str, ...] = ()
    source: Source | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.value

    def __len__(self) -> int:
        return len(self.value)

    def span_of(self, start: int, end: int) -> FileLocation:
        """The place in the file of characters start..end of the value."""
        touched = self._touched(start, end)
        if not touched:
            return self.span
        first, last = touched[0], touched[-1]
        left = self._offset(first, start) if first.verbatim else first.start
        right = self._offset(last, end) if last.verbatim else last.end
        return self._span(left, max(left, right))

    def edit_span(self, start: int, end: int) -> FileLocation | None:
        """The bytes to replace in order to change exactly characters start..end; None when there are none."""
        touched = self._touched(start, end)
        if not touched or touched[0].value_start > start or touched[-1].value_end < end:
            return None
        spans = [self._edit(segment, start, end) for segment in touched]
        merged = spans[0]
        for span in spans[1:]:
            if merged is None or span is None or span.path != merged.path or span.start != merged.end:
                return None
            merged = replace(merged, end=span.end, end_line=span.end_line, end_column=span.end_column)
        return merged

    def home(self, segment: Segment) -> FileLocation | None:
        """`edit_span` of one of its own segments, which takes no search."""
        return self._span(segment.start, segment.end) if segment.verbatim else segment.origin

    def slice(self, start: int, end: int) -> Self:
        """Characters start..end as a Text of their own; empty substitutions at either edge are kept."""
        inside = {id(segment) for segment in self._touched(start, end)}
        near = self._around(start, end)
        segments = tuple(self._cut(s, start, end) for s in near if s.variable is not None or id(s) in inside)
        return replace(
            self,
            value=self.value[start:end],
            span=self.span_of(start, end),
            segments=segments,
            unset=tuple(dict.fromkeys(s.variable for s in segments if s.unset and s.variable)),
        )

    def strip(self) -> Self:
        """Without the blanks at both ends."""
        value = self.value
        start = len(value) - len(value.lstrip())
        return self if value == value.strip() else self.slice(start, max(start, len(value.rstrip())))

    def split(self, separator: str) -> tuple[Self, ...]:
        """The parts between occurrences of `separator`."""
        parts, start = [], 0
        for word in self.value.split(separator):
            parts.append(self.slice(start, start + len(word)))
            start += len(word) + len(separator)
        return tuple(parts)

    def _touched(self, start: int, end: int) -> Sequence[Segment]:
        if start < end:
            first = bisect_right(self.segments, start, key=_end_of)
            return self.segments[first : bisect_left(self.segments, end, lo=first, key=_start_of)]
        around = self._around(start, start)
        exact = [s for s in around if s.verbatim] or around
        return exact[:1]

    def _around(self, start: int, end: int) -> Sequence[Segment]:
        """The segments within start..end and those that end or begin there."""
        first = bisect_left(self.segments, start, key=_end_of)
        return self.segments[first : bisect_right(self.segments, end, lo=first, key=_start_of)]

    def _offset(self, segment: Segment, position: int) -> int:
        position = min(max(position, segment.value_start), segment.value_end)
        if self.value.isascii():
            return segment.start + position - segment.value_start
        return segment.start + len(self.value[segment.value_start : position].encode("utf-8", "surrogatepass"))

    def _edit(self, segment: Segment, start: int, end: int) -> FileLocation | None:
        low, high = max(start, segment.value_start), min(end, segment.value_end)
        if segment.verbatim:
            return self._span(self._offset(segment, low), self._offset(segment, high))
        if segment.origin is None:
            return None
        shift = self._offset(segment, low) - segment.start
        length = len(self.value[low:high].encode("utf-8", "surrogatepass"))
        return _within(segment.origin, segment.origin_source, shift, length)

    def _cut(self, segment: Segment, start: int, end: int) -> Segment:
        low, high = max(start, segment.value_start), min(end, segment.value_end)
        origin = segment.origin
        left, right = segment.start, segment.end
        if segment.verbatim:
            left, right = self._offset(segment, low), self._offset(segment, high)
        elif origin is not None:
            origin = self._edit(segment, low, high)
        return replace(segment, value_start=low - start, value_end=high - start, start=left, end=right, origin=origin)

    def _span(self, start: int, end: int) -> FileLocation:
        if (start, end) == (self.span.start, self.span.end):
            return self.span
        if self.source is not None:
            return self.source.span(start, end)
        return _within(self.span, None, start - self.span.start, end - start)


def _start_of(segment: Segment) -> int:
    return segment.value_start


def _end_of(segment: Segment) -> int:
    return segment.value_end


def _within(span: FileLocation, source: Source | None, shift: int, length: int) -> FileLocation:
    """The `length` bytes from `shift` bytes after the start of a span; one ASCII line without a source."""
    start = span.start + shift
    if source is not None:
        return source.span(start, start + length)
    column = span.column + shift
    return replace(span, start=start, end=start + length, column=column, end_line=span.line, end_column=column + length)


def joined(first: FileLocation, last: FileLocation) -> FileLocation:
    """From the start of one span to the end of another that follows it in the same file; else the first."""
    if first.path != last.path or last.start < first.end:
        return first
    return replace(first, end=last.end, end_line=last.end_line, end_column=last.end_column)


def assemble(source: Source, pieces: Iterable[tuple[str, int, int]], start: int, end: int) -> Text:
    """The Text of the characters start..end of a source out of (characters, from, to) pieces.

    A piece that stands in the file as it is becomes a verbatim segment, neighbours become one.
    """
    segments: list[Segment] = []
    values: list[str] = []
    length = 0
    for chars, left, right in pieces:
        values.append(chars)
        verbatim = len(chars) == right - left and source.text[left:right] == chars
        first, last = source.offset(left), source.offset(right)
        begin = length
        if verbatim and segments and segments[-1].verbatim and segments[-1].end == first:
            previous = segments.pop()
            begin, first = previous.value_start, previous.start
        length += len(chars)
        segments.append(Segment(value_start=begin, value_end=length, start=first, end=last, verbatim=verbatim))
    return Text(value="".join(values), span=source.char_span(start, end), segments=tuple(segments), source=source)


def reassembled(text: Text, pieces: Iterable[tuple[str, int, int]], start: int, end: int) -> Text:
    """As `assemble`, out of the characters start..end of a Text."""
    parts = [_piece(text, *piece) for piece in pieces]
    return concatenated(parts) if parts else text.slice(start, end)


def _piece(text: Text, chars: str, start: int, end: int) -> Text:
    own = text.slice(start, end)
    if own.value == chars:
        return own
    whole = Segment(value_start=0, value_end=len(chars), start=own.span.start, end=own.span.end, verbatim=False)
    return replace(own, value=chars, segments=(whole,))


def concatenated(parts: Sequence[Text]) -> Text:
    """Texts of one file set end to end, each character still knowing its place; at least one is needed."""
    segments: list[Segment] = []
    length = 0
    for part in parts:
        for s in part.segments:
            segments.append(replace(s, value_start=s.value_start + length, value_end=s.value_end + length))
        length += len(part)
    return replace(
        parts[0],
        value="".join(part.value for part in parts),
        span=joined(parts[0].span, parts[-1].span),
        segments=tuple(segments),
        unset=tuple(dict.fromkeys(name for part in parts for name in part.unset)),
    )


def substituted(place: FileLocation, value: Text | str, variable: str, source: Source | None = None) -> Text:
    """The value of a variable in the place of the name it stands at: pointed at there, edited where the value is."""
    traced = value.segments if isinstance(value, Text) else ()
    segments = tuple(
        Segment(
            value_start=s.value_start,
            value_end=s.value_end,
            start=place.start,
            end=place.end,
            verbatim=False,
            variable=variable,
            origin=value.edit_span(s.value_start, s.value_end) if isinstance(value, Text) else None,
            origin_source=value.source if isinstance(value, Text) else None,
        )
        for s in traced
        if s.value_end > s.value_start
    )
    characters = str(value)
    whole = Segment(
        value_start=0, value_end=len(characters), start=place.start, end=place.end, verbatim=False, variable=variable
    )
    return Text(value=characters, span=place, segments=segments or (whole,), source=source)


def literal(value: str, path: str = "", line: int = 1, column: int = 1, start: int = 0) -> Text:
    """A Text that stands verbatim on one line of a file: for values that are made, and for tests."""
    end = start + len(value.encode("utf-8", "surrogatepass"))
    span = FileLocation(
        path=path,
        start=start,
        end=end,
        line=line,
        column=column,
        end_line=line,
        end_column=column + len(value),
    )
    segment = Segment(value_start=0, value_end=len(value), start=start, end=end)
    source = Source(path, value) if start == 0 and line == column == 1 else None
    return Text(value=value, span=span, segments=(segment,), source=source)
