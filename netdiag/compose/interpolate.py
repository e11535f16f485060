"""Variable substitution in values, keeping for every character where it came from.

The grammar is the one of compose-spec "Interpolation", with the corners of its reference implementation:
`$V ${V} ${V:-d} ${V-d} ${V:?m} ${V?m} ${V:+a} ${V+a}`, nested in each other, `$$` for a dollar. A dollar
that begins none of these stays a dollar; an opening `${` that does not is a fault. Faults are collected,
not raised: the expression then stays in the value as it is written.
"""

import re
from collections.abc import Callable, Sequence

from netdiag.compose.positions import Segment, Text
from netdiag.findings import FileLocation
from netdiag.patterns import regex
from netdiag.values import dataclass

Lookup = Callable[[str], "Text | str | None"]

_NAME = "[_a-zA-Z][_a-zA-Z0-9]*"
_EXPRESSION = regex(
    rf"\$(?:(?P<escape>\$)|(?P<name>{_NAME})|\{{(?:(?P<whole>{_NAME})\}}|(?P<opened>{_NAME}:?[-+?])|(?P<invalid>)))"
)
_BRACE = regex(r"\{.?|\}", re.DOTALL)
_OPERATOR = regex(rf"(?P<name>{_NAME})(?P<operator>:?[-+?])")
MAX_NESTING = 50
MAX_LENGTH = 100_000
MAX_TRACED = 200
_SHOWN = regex(r"\$\{?[A-Za-z0-9_.]{0,60}(?::?[-+?])?")
MAX_WRONG = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An expression that cannot be substituted, or (`required`) whose variable must have a value."""

    message: str
    span: FileLocation
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """Some characters of the result: template[start:end] as it stands when `variable` and `chars` are None.

    `outer` is the whole expression they came out of, `value` what a variable held.
    """

    start: int
    end: int
    chars: str | None = None
    value: Text | None = None
    variable: str | None = None
    outer: tuple[int, int] | None = None
    unset: bool = False


def interpolate(text: Text, lookup: Lookup) -> tuple[Text, tuple[Fault, ...]]:
    """The text with every expression replaced, and what was wrong with expressions in it."""
    if "$" not in text.value:
        return text, ()
    run = _Run(text, lookup)
    pieces = run.expand(0, len(text.value), 0)
    if sum(len(piece.chars or "") for piece in pieces) > MAX_LENGTH:
        return text, (Fault(message=f"the value becomes longer than {MAX_LENGTH} characters", span=text.span),)
    return _assemble(text, pieces), tuple(run.faults)


class _Line:
    """Where the last `}` of the line at hand is; every line of template[:end] is searched once."""

    def __init__(self, template: str, end: int) -> None:
        self.template = template
        self.end = end
        self.until = -1
        self.last = -1

    def last_brace(self, start: int) -> int:
        """The last one from `start` on, -1 where there is none."""
        if start > self.until:
            newline = self.template.find("\n", start, self.end)
            self.until = self.end if newline < 0 else newline
            self.last = self.template.rfind("}", start, self.until)
        return self.last if self.last >= start else -1


class _Run:
    """One substitution: the template, the variables and the faults met so far."""

    def __init__(self, text: Text, lookup: Lookup) -> None:
        self.text = text
        self.lookup = lookup
        self.faults: list[Fault] = []

    def expand(self, start: int, end: int, depth: int) -> list[_Piece]:
        template = self.text.value
        pieces: list[_Piece] = []
        position = start
        wrong = 0
        line = _Line(template, end)
        while match := _EXPRESSION.search(template, position, end):
            if match.start() > position:
                pieces.append(_Piece(start=position, end=match.start()))
            stop = match.end()
            if match["escape"] is not None:
                pieces.append(_Piece(start=match.start(), end=stop, chars="$", outer=match.span()))
            elif match["name"] is not None:
                pieces.append(self._variable(match["name"], match.span()))
            elif match["whole"] is not None and depth < MAX_NESTING:
                pieces.append(self._variable(match["whole"], match.span()))
            elif match["opened"] is not None and depth < MAX_NESTING and (last := line.last_brace(stop)) >= 0:
                stop = _closing(template, match.start(), last + 1)
                pieces += self._braced((match.start(), stop), depth)
            else:
                wrong += 1
                if wrong <= MAX_WRONG:
                    shown = _beginning(template, match.start(), end)
                    self._fault(f"invalid interpolation format: {shown!r}", match.start(), end)
                if match["opened"] is not None and (last := line.last_brace(stop)) >= 0:
                    stop = last + 1
                pieces.append(_Piece(start=match.start(), end=stop))
            position = stop
        if position < end:
            pieces.append(_Piece(start=position, end=end))
        return pieces

    def _variable(self, name: str, outer: tuple[int, int]) -> _Piece:
        value = self.lookup(name)
        if isinstance(value, Text):
            return _Piece(start=outer[0], end=outer[1], chars=value.value, value=value, variable=name, outer=outer)
        return _Piece(start=outer[0], end=outer[1], chars=value or "", variable=name, outer=outer, unset=value is None)

    def _braced(self, outer: tuple[int, int], depth: int) -> list[_Piece]:
        inside = (outer[0] + 2, outer[1] - 1)
        match = _OPERATOR.match(self.text.value, *inside)
        if match is None:
            return [self._variable(self.text.value[slice(*inside)], outer)]
        name, operator = match["name"], match["operator"]
        plain = self._variable(name, outer)
        filled = not plain.unset and (plain.chars != "" or not operator.startswith(":"))
        alternative = self.expand(match.end(), inside[1], depth + 1)
        match operator[-1]:
            case "?":
                if not filled:
                    reason = _assemble(self.text, alternative).value
                    message = f"required variable {name} is missing a value" + (f": {reason}" if reason else "")
                    self._fault(message, *outer, required=True)
                return [plain]
            case "-" if filled:
                return [plain]
            case "+" if not filled:
                return [_settled(plain)]
        return [_nested(piece, name, outer) for piece in alternative] or [_settled(plain, chars="")]

    def _fault(self, message: str, start: int, end: int, required: bool = False) -> None:
        self.faults.append(Fault(message=message, span=self.text.span_of(start, end), required=required))


def _settled(piece: _Piece, chars: str | None = None) -> _Piece:
    """The piece of a variable whose absence was provided for."""
    return _Piece(
        start=piece.start,
        end=piece.end,
        chars=piece.chars if chars is None else chars,
        value=piece.value if chars is None else None,
        variable=piece.variable,
        outer=piece.outer,
    )


def _nested(piece: _Piece, name: str, outer: tuple[int, int]) -> _Piece:
    """A piece of a default or alternative: it stands for the whole expression around it."""
    return _Piece(
        start=piece.start,
        end=piece.end,
        chars=piece.chars,
        value=piece.value,
        variable=piece.variable or name,
        outer=outer,
        unset=piece.unset,
    )


def _beginning(template: str, start: int, end: int) -> str:
    """How the expression at `start` begins. What is before it and in it may be a secret."""
    match = _SHOWN.match(template, start, end)
    stop = match.end() if match else start
    return template[start:stop] + ("..." if stop < end else "")


def _closing(template: str, start: int, end: int) -> int:
    """Where the expression that begins at `start` ends: after its balanced brace, else at `end`."""
    opened = 0
    for match in _BRACE.finditer(template, start, end):
        opened += 1 if match[0] != "}" else -1
        if opened == 0:
            return match.end()
    return end


def _assemble(text: Text, pieces: Sequence[_Piece]) -> Text:
    values: list[str] = []
    segments: list[Segment] = []
    unset: list[str] = list(text.unset)
    length = 0
    for piece in pieces:
        value = text.value[piece.start : piece.end] if piece.chars is None else piece.chars
        segments += _segments(text, piece, length, len(value))
        values.append(value)
        length += len(value)
        if piece.unset and piece.variable is not None:
            unset.append(piece.variable)
    return Text(
        value="".join(values),
        span=text.span,
        segments=tuple(segments),
        unset=tuple(dict.fromkeys(unset)),
        source=text.source,
    )


def _segments(text: Text, piece: _Piece, at: int, length: int) -> list[Segment]:
    if piece.outer is None:
        return [_shifted(segment, at) for segment in text.slice(piece.start, piece.end).segments]
    place = text.span_of(*piece.outer)
    held = piece.value
    if piece.chars is None:
        held = text.slice(piece.start, piece.end)
    found: list[Segment] = []
    for segment in held.segments if held is not None and len(held.segments) <= MAX_TRACED else ():
        if held is None or segment.value_end == segment.value_start:
            continue
        found.append(
            Segment(
                value_start=at + segment.value_start,
                value_end=at + segment.value_end,
                start=place.start,
                end=place.end,
                verbatim=False,
                variable=piece.variable,
                origin=held.home(segment),
                origin_source=held.source if segment.verbatim else segment.origin_source,
            )
        )
    return found or [
        Segment(
            value_start=at,
            value_end=at + length,
            start=place.start,
            end=place.end,
            verbatim=False,
            variable=piece.variable,
            unset=piece.unset,
        )
    ]


def _shifted(segment: Segment, by: int) -> Segment:
    return Segment(
        value_start=segment.value_start + by,
        value_end=segment.value_end + by,
        start=segment.start,
        end=segment.end,
        verbatim=segment.verbatim,
        variable=segment.variable,
        origin=segment.origin,
        unset=segment.unset,
        origin_source=segment.origin_source,
    )
