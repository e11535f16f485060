"""Match lines of logs with patterns, which may come from an untrusted file: text with named placeholders.

`Connection to node {node} ({host}/{ip}:{port})`. A placeholder matches as few characters as possible, of its own kind:
`{port}` and other numbers match digits (after an optional sign), the others anything but blanks, quotes, brackets and
commas; `{...}` matches any text. The pattern may begin anywhere in the line. Case and runs of blanks do not matter.
No regular expressions: the time is bounded by the length of the line times that of the pattern.
"""

from collections.abc import Mapping, Sequence

from netdiag.values import dataclass

LONGEST_LINE = 4000
LONGEST_PATTERN = 400
MOST_HOLES = 8
MOST_TRIES = 200
ANYTHING = "..."
NUMBERS = frozenset({"port", "node", "size", "partition", "count", "version"})
CONTAINER_ID = "container_id"
# What a hole that takes only a certain kind of text is worth in characters.
_KIND = 1
_ENDS = frozenset(" \t\"'()[]{}<>,;=")
_HEX = frozenset("0123456789abcdef")
_LONGEST_VALUE = 255


class Malformed(ValueError):
    """A text is not a pattern; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hole:
    """What may stand at a place; the name "..." is that of one whose value nobody wants."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Texts and holes in turn; `text` is how it was written. Two holes never follow each other."""

    text: str
    parts: tuple[str | Hole, ...]

    @property
    def holes(self) -> tuple[str, ...]:
        """The names of the holes, without those that have none."""
        return tuple(part.name for part in self.parts if isinstance(part, Hole) and part.name != ANYTHING)

    @property
    def weight(self) -> int:
        """How many characters must be there as written: the more, the less likely by chance."""
        kinds = sum(
            isinstance(part, Hole) and (part.name in NUMBERS or part.name == CONTAINER_ID) for part in self.parts
        )
        return sum(len(part) for part in self.parts if isinstance(part, str)) + _KIND * kinds


def parse_pattern(text: str) -> Pattern:
    """A pattern from its text; Malformed where it is none."""
    if len(text) > LONGEST_PATTERN:
        raise Malformed(f"is longer than {LONGEST_PATTERN} characters")
    parts: list[str | Hole] = []
    rest = text
    while rest:
        before, brace, after = rest.partition("{")
        if before:
            parts.append(_even(before))
        if not brace:
            break
        name, closed, rest = after.partition("}")
        if not closed or not (name == ANYTHING or (name.isidentifier() and name.isascii())):
            raise Malformed(f"'{{{name}' is not a placeholder: write {{name}} or {{...}}")
        if parts and isinstance(parts[-1], Hole):
            raise Malformed("has two adjacent placeholders")
        parts.append(Hole(name=name))
    if sum(isinstance(part, Hole) for part in parts) > MOST_HOLES:
        raise Malformed(f"has more than {MOST_HOLES} placeholders")
    found = Pattern(text=text, parts=tuple(parts))
    if found.weight < 8:
        raise Malformed("has fewer than 8 characters outside placeholders")
    if parts[0] == Hole(name=ANYTHING):
        raise Malformed("begins with {...}, which is superfluous: a pattern may begin anywhere in the line")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line made even, as it is written and in small letters: made once, held against many patterns."""

    written: str
    plain: str


def even_line(text: str) -> Line:
    """A line of a log; of one that is too long its beginning."""
    written = _spaced(text[:LONGEST_LINE])
    plain = written.lower()
    # A few letters get longer when they are made small.
    return Line(written=written if len(plain) == len(written) else plain, plain=plain)


def match(pattern: Pattern, line: str | Line) -> Mapping[str, str] | None:
    """The values of the holes where the pattern is in the line; None where it is not."""
    even = even_line(line) if isinstance(line, str) else line
    written, plain = even.written, even.plain
    if not all(part in plain for part in pattern.parts if isinstance(part, str)):
        return None
    before = pattern.parts[0] if isinstance(pattern.parts[0], Hole) else None
    parts = pattern.parts if before is None else pattern.parts[1:]
    first = parts[0]
    assert isinstance(first, str)
    at = plain.find(first)
    tries = MOST_TRIES
    while at >= 0 and tries:
        begun = {} if before is None else _before(before, written, at)
        found = None
        if begun is not None:
            found, tries = _from(parts, written, plain, at + len(first), tries)
        if found is not None:
            return {**found, **(begun or {})}
        tries -= 1
        at = plain.find(first, at + 1)
    return None


def _before(hole: Hole, written: str, end: int) -> Mapping[str, str] | None:
    """The value of a hole that a pattern begins with: what stands before a place, up to a blank, bracket or colon."""
    start = end
    while start and written[start - 1] not in _ENDS and written[start - 1] != ":" and end - start < _LONGEST_VALUE:
        start -= 1
    value = _fits(hole, written[start:end])
    return None if value is None else {hole.name: value}


def _from(
    parts: Sequence[str | Hole], written: str, plain: str, at: int, tries: int
) -> tuple[Mapping[str, str] | None, int]:
    """The holes, where all parts behind the first match from `at` on; and how many tries are left."""
    values: dict[str, str] = {}
    for index in range(1, len(parts), 2):
        hole, text = parts[index], parts[index + 1] if index + 1 < len(parts) else ""
        assert isinstance(hole, Hole)
        assert isinstance(text, str)
        end = plain.find(text, at) if text else _end_of_value(plain, at)
        while end >= 0 and tries and _fits(hole, written[at:end]) is None:
            tries -= 1
            if len(_bare(written[at:end])) > _LONGEST_VALUE and hole.name != ANYTHING:
                return None, tries
            end = plain.find(text, end + 1) if text else -1
        value = _fits(hole, written[at:end]) if end >= 0 else None
        if value is None:
            return None, tries
        if hole.name != ANYTHING:
            values.setdefault(hole.name, value)
        at = end + len(text)
    return values, tries


def _end_of_value(plain: str, at: int) -> int:
    end = at
    while end < len(plain) and plain[end] not in _ENDS:
        end += 1
    return end


def _fits(hole: Hole, value: str) -> str | None:
    """The value where it is of the hole's kind."""
    if hole.name == ANYTHING:
        return value
    value = _bare(value)
    if not value or len(value) > _LONGEST_VALUE or not _ENDS.isdisjoint(value):
        return None
    if hole.name in NUMBERS and not (value.removeprefix("-").isdigit() and value.isascii()):
        return None
    if hole.name == CONTAINER_ID and (len(value) not in (12, 64) or not _HEX.issuperset(value)):
        return None
    return value


def _bare(value: str) -> str:
    """Without the full stop or colon of a sentence."""
    return value.rstrip(".:")


def _even(text: str) -> str:
    return _spaced(text).lower()


def _spaced(text: str) -> str:
    """Runs of blanks as one; control characters are blanks, too."""
    made = "".join(" " if character.isspace() or not character.isprintable() else character for character in text)
    while "  " in made:
        made = made.replace("  ", " ")
    return made
