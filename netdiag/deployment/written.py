"""Values as compose files and what they bring along spell them, each able to point at its own place."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from netdiag.compose.layout import Change, quotes
from netdiag.compose.positions import Segment, Span, Text, joined
from netdiag.deployment.member import Declared
from netdiag.findings import Edit, FileLocation, Location


class ComposeValue(Declared):
    """A value of a compose file (or of what it pulls in); `replaced` are the others of the same list."""

    __slots__ = ("_replaced", "text")

    def __init__(self, *, variable: str, text: Text, replaced: tuple[Span, ...] = ()) -> None:
        super().__init__(variable=variable, value=text.value)
        self.text = text
        self._replaced = replaced

    def at(self, start: int = 0, end: int | None = None) -> FileLocation:
        """The place of characters start..end in the file."""
        return location(self.text.span_of(start, len(self.value) if end is None else end))

    @property
    def blanks(self) -> tuple[tuple[int, str], ...]:
        """Where variables without value and default left nothing behind."""
        return tuple((s.value_start, s.variable) for s in self.text.segments if s.unset and s.variable)

    @property
    def replaced(self) -> tuple[Location, ...]:
        """The earlier entries of the list that say something else."""
        return tuple(location(span) for span in self._replaced)

    def edit(self, start: int, end: int, replacement: str) -> Edit | None:
        """The edit at the bytes that hold these characters; None where an expression or escape produced them."""
        span = self.text.edit_span(start, end)
        if span is None:
            return None
        return Edit(path=span.path, start=span.start, end=span.end, replacement=replacement)

    def quotes(self) -> tuple[Edit, Edit] | None:
        """The quotes around a plain value in a flow collection."""
        if self.text.source is None or not self.text.segments:
            return None
        found = quotes(self.text.source, self.text.span.start)
        return None if found is None else (edit_of(found[0]), edit_of(found[1]))


class ScatteredValue(Declared):
    """A value put together from pieces that stand apart: a flag given twice, the fields of a YAML list.

    `pieces` are (offset in the value, piece), in order; what stands between them is nobody's text.
    """

    __slots__ = ("pieces",)

    def __init__(self, *, variable: str, value: str, pieces: Sequence[tuple[int, Text]]) -> None:
        super().__init__(variable=variable, value=value)
        self.pieces = tuple(pieces)

    def at(self, start: int = 0, end: int | None = None) -> FileLocation:
        """From the first piece touched to the last one."""
        end = len(self.value) if end is None else end
        touched = self._touched(start, end) or self.pieces
        spans = [text.span_of(max(start - at, 0), min(end - at, len(text))) for at, text in touched]
        return location(joined(spans[0], spans[-1]))

    @property
    def blanks(self) -> tuple[tuple[int, str], ...]:
        """Where variables without value and default left nothing behind."""
        return tuple(
            (at + s.value_start, s.variable)
            for at, text in self.pieces
            for s in text.segments
            if s.unset and s.variable
        )

    def edit(self, start: int, end: int, replacement: str) -> Edit | None:
        """The edit inside one piece; None across pieces."""
        touched = self._touched(start, end)
        if len(touched) != 1:
            return None
        at, text = touched[0]
        if start < at or end > at + len(text):
            return None
        span = text.edit_span(start - at, end - at)
        return None if span is None else Edit(path=span.path, start=span.start, end=span.end, replacement=replacement)

    def _touched(self, start: int, end: int) -> list[tuple[int, Text]]:
        if start == end:
            return [(at, text) for at, text in self.pieces if at <= start <= at + len(text)][:1]
        return [(at, text) for at, text in self.pieces if at < end and at + len(text) > start]


def location(span: Span) -> FileLocation:
    """A compose span as the place of a finding."""
    return FileLocation(
        path=span.path,
        line=span.line,
        column=span.column,
        end_line=span.end_line,
        end_column=span.end_column,
        start=span.start,
        end=span.end,
    )


def listed(variable: str, items: Iterable[Text]) -> Declared:
    """Several texts as one comma list."""
    texts = tuple(items)
    if len(texts) == 1:
        return ComposeValue(variable=variable, text=texts[0])
    pieces: list[tuple[int, Text]] = []
    length = 0
    for text in texts:
        pieces.append((length, text))
        length += len(text) + 1
    return ScatteredValue(variable=variable, value=",".join(text.value for text in texts), pieces=pieces)


def chained(parts: Sequence[Text]) -> Text:
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


def standing_for(place: Text, value: Text, variable: str) -> Text:
    """What a `$VARIABLE` that a shell expands stands for: it is pointed at there and edited where the value is."""
    span = place.span
    segments = [
        Segment(
            value_start=s.value_start,
            value_end=s.value_end,
            start=span.start,
            end=span.end,
            verbatim=False,
            variable=variable,
            origin=value.edit_span(s.value_start, s.value_end),
            origin_source=value.source,
        )
        for s in value.segments
        if s.value_end > s.value_start
    ]
    whole = Segment(value_start=0, value_end=len(value), start=span.start, end=span.end, verbatim=False)
    return replace(place, value=value.value, segments=tuple(segments) or (whole,), unset=())


def edit_of(change: Change) -> Edit:
    """A change of a compose file as an edit."""
    return Edit(path=change.path, start=change.start, end=change.end, replacement=change.text)
