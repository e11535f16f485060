"""Shell text as commands of words, each word with its place; what the shell would expand is marked as unknown.

Quotes, escapes, comments and continued lines are read as a POSIX shell does (Shell Command Language, 2.2 and 2.3). A
word that holds `$NAME`, `$(...)`, backquotes or a pattern is not known.
"""

from collections.abc import Iterator

from netdiag.compose.positions import Segment, Text
from netdiag.compose.problems import ComposeError
from netdiag.values import dataclass

MOST_WORDS = 20_000
_ENDS = ";&|()"
_EXPANDS_IN_QUOTES = "$`"
_EXPANDS = "$`*?["


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word of a command; `known` is false where the shell would put something else in its place."""

    text: Text
    known: bool = True

    @property
    def value(self) -> str:
        """The characters, without quotes."""
        return self.text.value


def commands(text: Text) -> Iterator[tuple[Word, ...]]:
    """The simple commands of a script, in their order; ComposeError where it has more than MOST_WORDS words."""
    count = 0
    command: list[Word] = []
    for word in _words(text):
        if word is None:
            if command:
                yield tuple(command)
            command = []
            continue
        command.append(word)
        count += 1
        if count > MOST_WORDS:
            raise ComposeError(f"a script of more than {MOST_WORDS} words is too large", span=text.span)
    if command:
        yield tuple(command)


def _words(text: Text) -> Iterator[Word | None]:
    """The words; None where a command ends."""
    value, end = text.value, len(text.value)
    index = 0
    while index < end:
        char = value[index]
        if char in " \t\r":
            index += 1
        elif char == "\\" and value.startswith(("\n", "\r\n"), index + 1):
            index += 3 if value[index + 1] == "\r" else 2
        elif char == "\n" or char in _ENDS:
            yield None
            index += 1
        elif char == "#":
            newline = value.find("\n", index)
            index = end if newline < 0 else newline
        else:
            word, index = _word(text, index)
            yield word


def _word(text: Text, start: int) -> tuple[Word, int]:
    value, end = text.value, len(text.value)
    pieces: list[tuple[int, int]] = []
    known, index = True, start
    while index < end:
        char = value[index]
        if char in " \t\r\n" or char in _ENDS:
            break
        if char == "'":
            close = value.find("'", index + 1)
            close = end if close < 0 else close
            pieces.append((index + 1, close))
            index = min(close + 1, end)
        elif char == '"':
            index, inside, expands = _double_quoted(value, index + 1)
            pieces += inside
            known = known and not expands
        elif char == "\\":
            if value.startswith("\n", index + 1):
                index += 2
            elif value.startswith("\r\n", index + 1):
                index += 3
            else:
                pieces.append((index + 1, min(index + 2, end)))
                index += 2
        elif value.startswith("$(", index) or char == "`":
            known = False
            stop = _end_of_substitution(value, index)
            pieces.append((index, stop))
            index = stop
        elif value.startswith("${{", index):
            known = False
            stop = value.find("}}", index)
            stop = end if stop < 0 else stop + 2
            pieces.append((index, stop))
            index = stop
        else:
            known = known and char not in _EXPANDS
            pieces.append((index, index + 1))
            index += 1
    return Word(text=_joined(text, pieces, start, min(index, end)), known=known), max(index, start + 1)


def _double_quoted(value: str, index: int) -> tuple[int, list[tuple[int, int]], bool]:
    pieces: list[tuple[int, int]] = []
    expands = False
    end = len(value)
    while index < end:
        char = value[index]
        if char == '"':
            return index + 1, pieces, expands
        if char == "\\" and index + 1 < end:
            if value[index + 1] == "\n":
                index += 2
                continue
            first = index + 1 if value[index + 1] in '$`"\\' else index
            pieces.append((first, index + 2))
            index += 2
            continue
        expands = expands or char in _EXPANDS_IN_QUOTES
        pieces.append((index, index + 1))
        index += 1
    return end, pieces, expands


def _end_of_substitution(value: str, index: int) -> int:
    if value[index] == "`":
        close = value.find("`", index + 1)
        return len(value) if close < 0 else close + 1
    depth = 0
    for position in range(index + 1, len(value)):
        depth += (value[position] == "(") - (value[position] == ")")
        if not depth:
            return position + 1
    return len(value)


def _joined(text: Text, pieces: list[tuple[int, int]], start: int, end: int) -> Text:
    """The pieces as one text that knows the place of each."""
    runs: list[tuple[int, int]] = []
    for first, last in pieces:
        if runs and runs[-1][1] == first:
            runs[-1] = (runs[-1][0], last)
        elif first < last:
            runs.append((first, last))
    segments: list[Segment] = []
    length = 0
    for first, last in runs:
        piece = text.slice(first, last)
        segments += [
            Segment(
                value_start=s.value_start + length,
                value_end=s.value_end + length,
                start=s.start,
                end=s.end,
                verbatim=s.verbatim,
            )
            for s in piece.segments
        ]
        length += len(piece)
    return Text(
        value="".join(text.value[first:last] for first, last in runs),
        span=text.span_of(start, end),
        segments=tuple(segments),
        source=text.source,
    )
