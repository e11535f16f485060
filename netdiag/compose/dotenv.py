"""The dotenv grammar of compose: `.env` and `env_file` text becomes located values.

It is not the grammar of a shell nor of python-dotenv: `K: V` is allowed, a bare `K` takes the value of the
environment, ` #` begins a comment in unquoted values only, single quotes are literal, and all forms of
interpolation work in unquoted and double-quoted values, seeing the environment first, then the lines above.
"""

from collections.abc import Mapping

from netdiag.compose.interpolate import Lookup, interpolate
from netdiag.compose.positions import Segment, Source, Text, assemble
from netdiag.compose.problems import ComposeError, decoded
from netdiag.patterns import regex
from netdiag.values import dataclass

MAX_LENGTH = 4_000_000
_BLANK = " \t\v\f\r\x85\xa0"
_ESCAPE = regex(r'\\(?:[abcfnrtv$"\\]|0\d{0,3})')
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"'}
_EXPORT = regex(r"export\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class DotenvEntry:
    """One assignment: the name as written, and the value."""

    key: Text
    value: Text


def load_dotenv(
    source: Source,
    environ: Mapping[str, str] | Lookup,
    earlier: Mapping[str, Text] | None = None,
    *,
    raw: bool = False,
) -> dict[str, Text]:
    """The variables of a dotenv file by name; a bare key is present only when the environment has it.

    `earlier` holds what dotenv files before this one gave, `raw` is compose's `format: raw`: no quotes, no
    expansion. ComposeError when compose refuses the file.
    """
    entries = load_entries(source, environ, raw=raw, earlier=earlier)
    return dict(earlier or {}) | {name: entry.value for name, entry in entries.items()}


def load_entries(
    source: Source,
    environ: Mapping[str, str] | Lookup,
    *,
    raw: bool = False,
    earlier: Mapping[str, Text] | None = None,
) -> dict[str, DotenvEntry]:
    """The same, each variable with the place of its name."""
    reader = _Reader(source, decoded(source), environ if callable(environ) else environ.get, raw, earlier or {})
    reader.read()
    reader.found.pop("", None)
    return reader.found


class _Reader:
    """A cursor over the text of one dotenv file."""

    def __init__(self, source: Source, text: str, environ: Lookup, raw: bool, earlier: Mapping[str, Text]) -> None:
        self.source = source
        self.text = text
        self.environ = environ
        self.raw = raw
        self.earlier = earlier
        self.position = 0
        self.length = 0
        self.found: dict[str, DotenvEntry] = {}

    def read(self) -> None:
        text = self.text
        while True:
            while self.position < len(text) and text[self.position].isspace():
                self.position += 1
            if self.position >= len(text):
                return
            if text[self.position] == "#":
                self.position = self._line_end(self.position)
            else:
                self._statement()

    def _statement(self) -> None:
        key_start, key_end, separator = self._key()
        key = self.text[key_start:key_end]
        if separator == "\n":
            value = self.environ(key)
            if value is not None:
                text = value if isinstance(value, Text) else self._inherited(key, value, key_start, key_end)
                self.found[key] = DotenvEntry(key=self._verbatim(key_start, key_end), value=text)
            return
        while self.position < len(self.text) and self.text[self.position] in _BLANK:
            self.position += 1
        text = self._value()
        if separator:
            self.found[key] = DotenvEntry(key=self._verbatim(key_start, key_end), value=text)

    def _key(self) -> tuple[int, int, str]:
        text = self.text
        start = self.position
        if match := _EXPORT.match(text, start):
            start = match.end()
        for index in range(start, len(text)):
            char = text[index]
            if char in "=:\n":
                self.position = index + 1
                key = text[start:index].rstrip()
                if " " in key:
                    raise ComposeError(
                        "key cannot contain a space", span=self.source.char_span(start, start + len(key))
                    )
                return start, start + len(key), char
            if char not in _BLANK and char not in "_.-[]" and not char.isalnum():
                message = f"unexpected character {char!r} in variable name"
                raise ComposeError(message, span=self.source.char_span(index, index + 1))
        self.position = start
        return start, start, ""

    def _value(self) -> Text:
        quote = self.text[self.position : self.position + 1]
        if self.raw or quote not in ("'", '"') or not quote:
            return self._unquoted()
        return self._quoted(quote)

    def _unquoted(self) -> Text:
        start = self.position
        end = self._line_end(start)
        self.position = min(end + 1, len(self.text))
        value = self.text[start:end]
        if self.raw:
            return self._verbatim(start, start + len(value.rstrip("\r")))
        value = value.split(" #", 1)[0].rstrip()
        return self._expanded(self._verbatim(start, start + len(value)))

    def _quoted(self, quote: str) -> Text:
        text, start = self.text, self.position
        index = start + 1
        pieces: list[tuple[str, int, int]] = []
        while index < len(text) and text[index] != quote:
            if text[index] == "\\" and index + 1 < len(text):
                index = self._escape(quote, index, pieces)
            else:
                pieces.append((text[index], index, index + 1))
                index += 1
        if index >= len(text):
            end = self._line_end(start)
            raise ComposeError("unterminated quoted value", span=self.source.char_span(start, end))
        self.position = index + 1
        value = assemble(self.source, pieces, start, index + 1)
        return self._expanded(value) if quote == '"' else value

    def _escape(self, quote: str, index: int, pieces: list[tuple[str, int, int]]) -> int:
        """Reads the backslash at `index` and what it escapes, returns where to go on."""
        text = self.text
        follower = text[index + 1]
        if follower == quote:
            pieces.append((quote, index, index + 2))
            return index + 2
        if quote == '"' and (match := _ESCAPE.match(text, index)):
            written = match.group()
            pieces.append((_unescape(written), index, match.end()))
            return match.end()
        pieces.append(("\\", index, index + 1))
        if follower == "\\":
            pieces.append(("\\", index + 1, index + 2))
            return index + 2
        return index + 1

    def _expanded(self, value: Text) -> Text:
        expanded, faults = interpolate(value, self._lookup)
        self.length += len(expanded.value)
        if self.length > MAX_LENGTH:
            raise ComposeError("the variables expand to an excessive size", span=value.span)
        if faults:
            raise ComposeError(faults[0].message, span=faults[0].span)
        return expanded

    def _lookup(self, name: str) -> Text | str | None:
        value = self.environ(name)
        if value is None and name in self.found:
            return self.found[name].value
        return self.earlier.get(name) if value is None else value

    def _line_end(self, position: int) -> int:
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end

    def _verbatim(self, start: int, end: int) -> Text:
        return assemble(self.source, [(self.text[start:end], start, end)], start, end)

    def _inherited(self, key: str, value: str, start: int, end: int) -> Text:
        span = self.source.char_span(start, end)
        segment = Segment(
            value_start=0, value_end=len(value), start=span.start, end=span.end, verbatim=False, variable=key
        )
        return Text(value=value, span=span, segments=(segment,), source=self.source)


def _unescape(written: str) -> str:
    """What an escape of a double-quoted value stands for; a dollar stays escaped for the interpolation."""
    body = written[1:]
    if body == "$":
        return "$$"
    if body.startswith("0"):
        digits = body[1:]
        octal = len(digits) == 3 and all(digit in "01234567" for digit in digits) and int(digits, 8) < 256
        return chr(int(digits, 8)) if octal else written
    return _ESCAPED.get(body, written)
