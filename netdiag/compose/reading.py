"""Typed reading of values: a value of the wrong type is a problem with a place, and reads as absent."""

from collections.abc import Iterator

from netdiag.compose.positions import Text
from netdiag.compose.problems import Problems
from netdiag.compose.values import Entry, Mapping, Scalar, Sequence, Value, is_null

Pair = tuple[str, Text, Text | None, Value, Entry | None]
_NUMBERS = ("int", "float")
_TRUE = frozenset(("true", "y", "yes", "on"))
_FALSE = frozenset(("false", "n", "no", "off"))


class Reading:
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
        if word in _TRUE:
            return True
        if word not in _FALSE:
            self.wrong(value, field, "true or false")
        return default if word not in _FALSE else False

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

    def _entries(self, mapping: Mapping, field: str) -> Iterator[Pair]:
        for name, entry in mapping.entries.items():
            held = entry.value
            if isinstance(held, Scalar) and held.kind != "time":
                yield name, entry.key, None if held.kind == "null" else held.text, held, entry
            else:
                self.wrong(held, f"{field}.{name}", "a string, a number or null")
