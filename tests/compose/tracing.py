"""What every located value owes its reader: the checks that the tests of this folder share."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path

from netdiag.compose.load import load
from netdiag.compose.positions import Source, Text
from netdiag.compose.project import Project
from netdiag.findings import FileLocation

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "compose"


def project(
    yaml: str | bytes, *, environ: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None
) -> Project:
    """The project of an inline file called `compose.yaml`, beside `files`."""
    held = {path: text.encode() for path, text in (files or {}).items()}
    return load(Source("compose.yaml", yaml), environ=environ or {}, read=held.get, name="p")


def cut(data: bytes, span: FileLocation) -> str:
    """The characters under a span, after checking that its lines and columns say the same as its bytes."""
    source = _source(span.path, data)
    assert source.span(span.start, span.end) == span
    assert 0 <= span.start <= span.end <= len(data)
    return data[span.start : span.end].decode()


@lru_cache(maxsize=64)
def _source(path: str, data: bytes) -> Source:
    return Source(path, data)


def assert_traced(text: Text, files: Mapping[str, bytes]) -> None:
    """Segments tile the value, verbatim ones are the file's own bytes, and so is what can be edited."""
    position = 0
    for segment in text.segments:
        assert segment.value_start == position, (text, segment)
        position = segment.value_end
        value = text.value[segment.value_start : segment.value_end]
        place = text.span_of(segment.value_start, segment.value_end)
        written = cut(files[place.path], place)
        if segment.verbatim:
            assert written == value, (text, segment)
        elif segment.variable is not None and segment.value_end > segment.value_start:
            assert segment.variable in written, (text, segment, written)
        editable = text.edit_span(segment.value_start, segment.value_end)
        if editable is not None and value and editable.path in files:
            assert cut(files[editable.path], editable) == value, (text, segment)
    assert position == len(text.value), text
    for i in range(0, len(text.value), 1 + len(text.value) // 7):
        editable = text.edit_span(i, i + 1)
        if editable is not None and editable.path in files:
            assert cut(files[editable.path], editable) == text.value[i], (text, i)


def texts_in(value: object) -> Iterator[Text]:
    """Every Text in a model value, however deep."""
    if isinstance(value, Text):
        yield value
    elif is_dataclass(value):
        for each in fields(value):
            yield from texts_in(getattr(value, each.name))
    elif isinstance(value, Mapping):
        for held in value.values():
            yield from texts_in(held)
    elif isinstance(value, tuple):
        for held in value:
            yield from texts_in(held)


def spans_in(value: object) -> Iterator[FileLocation]:
    """Every FileLocation in a model value, however deep, those of problems included."""
    if isinstance(value, FileLocation):
        yield value
    elif is_dataclass(value):
        for each in fields(value):
            if each.name != "source":
                yield from spans_in(getattr(value, each.name))
    elif isinstance(value, Mapping):
        for held in value.values():
            yield from spans_in(held)
    elif isinstance(value, tuple):
        for held in value:
            yield from spans_in(held)
