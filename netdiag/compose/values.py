"""The expanded YAML of a compose file, and the typed reading of its fields.

In a value aliases are followed, merges done, variables substituted, scalars typed, and everything still knows its
place. A field of the wrong type is a problem with a place, and reads as absent.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from collections.abc import Mapping as MappingABC
from dataclasses import field
from typing import Literal

from netdiag.compose.interpolate import Lookup
from netdiag.compose.positions import Text, joined
from netdiag.compose.problems import Problems
from netdiag.findings import FileLocation
from netdiag.patterns import regex
from netdiag.values import dataclass

# The bytes of a file that a project names, by its path with the project's folder before it; None where there is none.
ReadFile = Callable[[str], bytes | None]
Kind = Literal["null", "bool", "int", "float", "time", "str"]
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLS = {
    "true": "true",
    "True": "true",
    "TRUE": "true",
    "false": "false",
    "False": "false",
    "FALSE": "false",
}
_FLOAT = regex(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DOT_FLOAT = regex(r"\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_SPECIAL = {
    **dict.fromkeys((".nan", ".NaN", ".NAN"), "NaN"),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), "+Inf"),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), "-Inf"),
}
_TIME = regex(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:([Tt ])(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9})\d*)?(Z|[-+]\d\d:\d\d)?)?"
)
_PREFIXES = (("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2), ("0o", 8), ("0O", 8))
_NUMBERS = ("int", "float")
_TRUE_WORDS = frozenset(("true", "y", "yes", "on"))
_FALSE_WORDS = frozenset(("false", "n", "no", "off"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a file's values are read in: the folder its relative paths start from, and its variables.

    `substitutes` is false for a file that is not Compose's, in which a dollar is left to others.
    """

    folder: str
    lookup: Lookup
    substitutes: bool = True

    def path(self, name: str) -> str:
        """A path that the file names, as seen from the project's folder."""
        return posixpath.normpath(posixpath.join(self.folder, name)) if self.folder else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A scalar; `text` spells it as compose prints it (a number as Go's %v), null as the empty string."""

    kind: Kind
    text: Text
    scope: Scope | None = field(default=None, repr=False, compare=False)

    @property
    def value(self) -> str:
        """The characters."""
        return self.text.value

    @property
    def span(self) -> FileLocation:
        """The place of the whole scalar, quotes included."""
        return self.text.span


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """A list."""

    items: tuple["Value", ...]
    span: FileLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key of a mapping with its value; `via` is the merge key or alias that brought it here.

    `listed` marks a name out of a list that was made a mapping to be merged.
    """

    key: Text
    value: "Value"
    via: FileLocation | None = None
    listed: bool = False

    @property
    def span(self) -> FileLocation:
        """From the key to the end of the value, when both stand together in one file."""
        return joined(self.key.span, self.value.span)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """A mapping, in the order of the file; what merge keys bring stands after the keys written out.

    `is_pair` marks one entry of a mapping that was merged with a list.
    """

    entries: MappingABC[str, Entry]
    span: FileLocation
    is_pair: bool = False

    def get(self, key: str) -> "Value | None":
        """The value under a key; None when the key is absent."""
        entry = self.entries.get(key)
        return None if entry is None else entry.value


Value = Scalar | Sequence | Mapping
KeyValue = tuple[str, Text, Text | None, Value, Entry | None]


class FieldReader:
    """Reads the fields of one service, network or other unit; `where` is its path in messages."""

    def __init__(self, problems: Problems, where: str, service: str | None = None) -> None:
        self.problems = problems
        self.where = where
        self.service = service

    def wrong(self, value: Value, field: str, wanted: str) -> None:
        """Reports a value that is not what compose wants there."""
        self.problems.error("schema", f"{self.where}.{field} must be {wanted}", value.span, service=self.service)

    def text(self, mapping: Mapping, field: str) -> Text | None:
        """A string, or what else is written there as compose prints it; None when absent or null."""
        value = mapping.get(field)
        if isinstance(value, Scalar):
            return None if value.kind == "null" else value.text
        if value is not None:
            self.wrong(value, field, "a string")
        return None

    def texts(self, mapping: Mapping, field: str) -> tuple[Text, ...]:
        """A list of strings, of which one alone may stand without its list."""
        value = mapping.get(field)
        match value:
            case None:
                return ()
            case Scalar():
                return () if value.kind == "null" else (value.text,)
            case Sequence():
                return tuple(self._items(value, field))
            case Mapping():
                self.wrong(value, field, "a list")
        return ()

    def unique_texts(self, mapping: Mapping, field: str) -> tuple[Text, ...]:
        """The same, a later one of two equal strings in the place of the earlier."""
        return tuple({text.value: text for text in self.texts(mapping, field)}.values())

    def _items(self, sequence: Sequence, field: str) -> Iterator[Text]:
        for item in sequence.items:
            if not isinstance(item, Scalar) or item.kind not in ("str", *(_NUMBERS if field == "expose" else ())):
                self.wrong(item, f"{field}[]", "a string")
            if isinstance(item, Scalar) and item.kind != "null":
                yield item.text

    def boolean(self, mapping: Mapping, field: str, default: bool = False) -> bool:
        """A boolean, which substitution may have made out of a string."""
        value = mapping.get(field)
        if value is None or is_null(value):
            return default
        word = value.value.lower() if isinstance(value, Scalar) else ""
        if word in _TRUE_WORDS:
            return True
        if word not in _FALSE_WORDS:
            self.wrong(value, field, "true or false")
        return default if word not in _FALSE_WORDS else False

    def integer(self, mapping: Mapping, field: str) -> int | None:
        """An integer, which substitution may have made out of a string."""
        value = mapping.get(field)
        if value is None or is_null(value):
            return None
        if isinstance(value, Scalar):
            try:
                return int(value.value)
            except ValueError:
                pass
        self.wrong(value, field, "an integer")
        return None

    def mapping(self, mapping: Mapping, field: str) -> Mapping | None:
        """A mapping; None when absent or null."""
        value = mapping.get(field)
        if isinstance(value, Mapping):
            return value
        if value is not None and not is_null(value):
            self.wrong(value, field, "a mapping")
        return None

    def sequence(self, mapping: Mapping, field: str) -> Sequence | None:
        """A list; None when absent or null."""
        value = mapping.get(field)
        if isinstance(value, Sequence):
            return value
        if value is not None and not is_null(value):
            self.wrong(value, field, "a list")
        return None

    def pairs(self, mapping: Mapping, field: str) -> Iterator[tuple[str, Text, Text | None, Value, Entry | None]]:
        """The `K=V` items of a list or the entries of a mapping: name, its place, value, whole, entry.

        The value is None for a bare `K` and for null.
        """
        value = mapping.get(field)
        if isinstance(value, Sequence):
            for item in value.items:
                if isinstance(item, Mapping):
                    if not item.is_pair:
                        self.wrong(item, f"{field}[]", "a string like KEY=value")
                    yield from self._entries(item, field)
                    continue
                if not isinstance(item, Scalar):
                    self.wrong(item, f"{field}[]", "a string like KEY=value")
                    continue
                if item.kind != "str":
                    self.wrong(item, f"{field}[]", "a string like KEY=value")
                text = item.text
                cut = text.value.find("=")
                key = text if cut < 0 else text.slice(0, cut)
                yield key.value, key, None if cut < 0 else text.slice(cut + 1, len(text.value)), item, None
        elif isinstance(value, Mapping):
            yield from self._entries(value, field)
        elif value is not None and not is_null(value):
            self.wrong(value, field, "a mapping or a list")

    def _entries(self, mapping: Mapping, field: str) -> Iterator[KeyValue]:
        for name, entry in mapping.entries.items():
            held = entry.value
            if isinstance(held, Scalar) and held.kind != "time":
                yield name, entry.key, None if held.kind == "null" else held.text, held, entry
            else:
                self.wrong(held, f"{field}.{name}", "a string, a number or null")


def no_files(path: str) -> None:
    """A `ReadFile` where there are no files."""


def scoped(path: Scalar) -> str:
    """The path that a scalar names, as seen from the project's folder."""
    return path.value if path.scope is None else path.scope.path(path.value)


def is_null(value: Value) -> bool:
    """Whether this is YAML's null."""
    return isinstance(value, Scalar) and value.kind == "null"


def plain_kind(value: str) -> tuple[Kind, str]:
    """What a plain scalar is to compose (YAML 1.2 with the octals of 1.1), and how compose spells it."""
    if value in _NULLS:
        return "null", ""
    first = value[0]
    if first not in "0123456789+-.":
        return ("bool", _BOOLS[value]) if value in _BOOLS else ("str", value)
    if value in _SPECIAL:
        return "float", _SPECIAL[value]
    if first == ".":
        return ("float", go_float(float(value))) if _DOT_FLOAT.fullmatch(value) else ("str", value)
    if (found := _TIME.fullmatch(value)) and (spelled := _go_time(found)):
        return "time", spelled
    digits = value.replace("_", "")
    number = _integer(digits)
    if number is not None:
        return "int", str(number)
    if _FLOAT.fullmatch(digits):
        return "float", go_float(float(digits))
    return "str", value


def go_float(number: float) -> str:
    """A float as Go's %v spells it: the shortest digits, an exponent from 1e+06 on and below 1e-4."""
    if number != number or number in (float("inf"), float("-inf")):
        return "NaN" if number != number else "+Inf" if number > 0 else "-Inf"
    mantissa, _, exponent = f"{number!r}".partition("e")
    digits = mantissa.replace("-", "").replace(".", "").lstrip("0")
    if not digits:
        return "-0" if str(number).startswith("-") else "0"
    whole = mantissa.lstrip("-").partition(".")[0].lstrip("0")
    fraction = mantissa.partition(".")[2]
    power = int(exponent or 0) + (len(whole) - 1 if whole else -(len(fraction) - len(fraction.lstrip("0")) + 1))
    digits = digits.rstrip("0")
    sign = "-" if number < 0 else ""
    if power < -4 or power >= 6:
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    padded = digits.ljust(power + 1, "0")
    tail = f".{padded[power + 1 :]}" if len(padded) > power + 1 else ""
    return f"{sign}{padded[: power + 1]}{tail}"


def _go_time(found: re.Match[str]) -> str | None:
    """A timestamp as Go prints a time.Time; None when it is no valid time."""
    year, month, day, separator, hour, minute, second, fraction, zone = found.groups()
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    if separator is not None and ((separator == " ") != (zone is None)):
        return None
    clock = f"{int(hour or 0):02d}:{int(minute or 0):02d}:{int(second or 0):02d}"
    part = (fraction or "").rstrip("0")
    offset = "+0000 UTC" if zone in (None, "Z") else f"{zone.replace(':', '')} {zone.replace(':', '')}"
    return f"{year}-{int(month):02d}-{int(day):02d} {clock}{'.' + part if part else ''} {offset}"


def _integer(digits: str) -> int | None:
    sign, body = (digits[0], digits[1:]) if digits[:1] in ("+", "-") else ("", digits)
    base = next((base for prefix, base in _PREFIXES if body.startswith(prefix)), 0)
    if base:
        body = body[2:]
    elif body.isdigit():
        base = 8 if len(body) > 1 and body[0] == "0" else 10
    else:
        return None
    try:
        number = int(sign + body, base) if body[:1] not in ("+", "-") else None
    except ValueError:
        return None
    return number if number is not None and -(2**63) <= number < 2**64 else None
