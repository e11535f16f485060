"""The command line of a service: its words with their places, also those of a shell script inside it.

Compose takes a command in text form apart as a shell would, without expanding anything. A script for `sh -c` is taken
apart into simple commands; a variable in it is expanded where the service's own environment gives it, and a word that
a shell alone could complete is `open`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from netdiag.compose.positions import Text
from netdiag.compose.project import Command, Service
from netdiag.deployment.written import chained, standing_for

_SHELLS = frozenset({"sh", "bash", "ash", "dash", "zsh"})
_NAME = re.compile(r"\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)\}|(?P<bare>[A-Za-z_][A-Za-z0-9_]*)")
_ENDS = frozenset(";&|\n()")
# Longer ones are programs, not command lines.
_LONGEST = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word; `is_open` where only a shell could tell the whole of it."""

    text: Text
    is_open: bool = False

    @property
    def value(self) -> str:
        """The characters."""
        return self.text.value

    def slice(self, start: int, end: int) -> "Word":
        """Characters start..end as a word of their own."""
        return Word(text=self.text.slice(start, end), is_open=self.is_open)


Line = tuple[Word, ...]


def command_lines(service: Service) -> tuple[Line, ...]:
    """What a container of the service executes, as far as its `entrypoint` and `command` tell; empty for neither."""
    argv = (*words(service.entrypoint), *words(service.command))
    if not argv:
        return ()
    script = _script(argv)
    if script is None:
        return (argv,)
    variables = {name: v.value for name, v in service.environment.items() if v.value is not None}
    return tuple(simple_commands(script.text, variables))


def words_of(service: Service) -> tuple[Line, Line]:
    """The words of the entrypoint and of the command, scripts as they stand."""
    return words(service.entrypoint), words(service.command)


def words(command: Command) -> Line:
    """The words of an entrypoint or command in either form."""
    if command is None:
        return ()
    if isinstance(command, Text):
        # Compose splits at blanks and line ends alike.
        return tuple(word for line in _split(command, {}, script=False) for word in line)
    return tuple(Word(text=text) for text in command)


def simple_commands(script: Text, variables: Mapping[str, Text]) -> Iterator[Line]:
    """The commands of a shell script one by one."""
    yield from _split(script, variables, script=True)


def _script(argv: Line) -> Word | None:
    """The script of `sh -c SCRIPT`, behind an init or not."""
    for index, word in enumerate(argv[:3]):
        if word.value.rpartition("/")[2] not in _SHELLS:
            continue
        for position in range(index + 1, len(argv) - 1):
            option = argv[position].value
            if not option.startswith("-"):
                return None
            if not option.startswith("--") and "c" in option:
                return argv[position + 1]
    return None


def _split(text: Text, variables: Mapping[str, Text], *, script: bool) -> Iterator[Line]:
    if len(text) > _LONGEST:
        return
    builder = _Builder(text, variables)
    value, index, quote = text.value, 0, ""
    while index < len(value):
        char = value[index]
        if char == "\\" and quote != "'":
            index = builder.escape(index, quote)
        elif quote and char == quote:
            quote = ""
            index += 1
        elif not quote and char in "'\"":
            quote, builder.started = char, True
            index += 1
        elif script and quote != "'" and char in "$`":
            index = builder.expand(index)
        elif quote or not (char.isspace() or (script and char in _ENDS)):
            if script and not quote and char == "#" and not builder.started:
                end = value.find("\n", index)
                index = len(value) if end < 0 else end
                continue
            builder.take(index, index + 1)
            index += 1
        else:
            builder.end_word()
            if script and char in _ENDS and builder.line:
                yield builder.end_line()
            index += 1
    builder.end_word()
    if builder.line:
        yield builder.end_line()


def _substitution_end(value: str, index: int) -> int:
    """Where the `$...` or backtick at `index` ends; at the end of the text where it is not closed."""
    following = value[index + 1 : index + 2]
    if value[index] == "`" or following == "{":
        end = value.find("`" if value[index] == "`" else "}", index + 1)
        return len(value) if end < 0 else end + 1
    if following != "(":
        match = _NAME.match(value, index + 1)
        return match.end() if match else index + 1
    depth = 0
    for position in range(index + 1, len(value)):
        depth += {"(": 1, ")": -1}.get(value[position], 0)
        if depth == 0:
            return position + 1
    return len(value)


class _Builder:
    """Collects the pieces of a word, and the words of a line."""

    def __init__(self, text: Text, variables: Mapping[str, Text]) -> None:
        self.text = text
        self.variables = variables
        self.line: list[Word] = []
        self.started = False
        self._ranges: list[tuple[int, int] | Text] = []
        self._open = False

    def take(self, start: int, end: int) -> None:
        """Characters start..end belong to the word as they stand."""
        self.started = True
        last = self._ranges[-1] if self._ranges else None
        if isinstance(last, tuple) and last[1] == start:
            self._ranges[-1] = (last[0], end)
        else:
            self._ranges.append((start, end))

    def escape(self, index: int, quote: str) -> int:
        """A backslash: a line end behind it is nothing, another character stands for itself."""
        following = self.text.value[index + 1 : index + 2]
        if following == "\n":
            return index + 2
        if quote and following not in ('"', "\\", "$", "`"):
            self.take(index, index + 1)
            return index + 1
        if following:
            self.take(index + 1, index + 2)
        return index + 2

    def expand(self, index: int) -> int:
        """A `$`: the value of a variable of the service, else the word is open."""
        match = _NAME.match(self.text.value, index + 1) if self.text.value[index] == "$" else None
        name = (match["braced"] or match["bare"]) if match else ""
        self.started = True
        if match is None or name not in self.variables:
            self._open = True
            end = _substitution_end(self.text.value, index)
            self._ranges.append((index, end))
            return end
        place = self.text.slice(index, match.end())
        self._ranges.append(standing_for(place, self.variables[name], name))
        return match.end()

    def end_word(self) -> None:
        """A blank: what was collected is a word."""
        if self.started:
            parts = [p if isinstance(p, Text) else self.text.slice(*p) for p in self._ranges]
            text = chained(parts) if parts else self.text.slice(0, 0)
            self.line.append(Word(text=text, is_open=self._open))
        self.started = self._open = False
        self._ranges = []

    def end_line(self) -> Line:
        """The end of a command: its words."""
        line = tuple(self.line)
        self.line = []
        return line
