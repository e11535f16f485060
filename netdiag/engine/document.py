"""Reading an Engine API document whose shape is promised but not certain.

Every function takes a path of keys and gives an empty value where the document holds nothing, or something of
another type: the API leaves fields out, sends null, and changed types between its versions.
"""

from collections.abc import Mapping, Sequence
from typing import Any


def mapping(document: object, *path: str) -> Mapping[str, Any]:
    """The object at `path`; empty when absent."""
    found = _at(document, path)
    return found if isinstance(found, Mapping) else {}


def sequence(document: object, *path: str) -> Sequence[Any]:
    """The array at `path`; empty when absent."""
    found = _at(document, path)
    return found if isinstance(found, list | tuple) else ()


def text(document: object, *path: str) -> str:
    """The string at `path`; empty when absent."""
    found = _at(document, path)
    return found if isinstance(found, str) else ""


def number(document: object, *path: str) -> int:
    """The integer at `path`; 0 when absent."""
    found = _at(document, path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def flag(document: object, *path: str) -> bool:
    """The boolean at `path`; False when absent."""
    return _at(document, path) is True


def texts(document: object, *path: str) -> tuple[str, ...]:
    """The strings of the array at `path`."""
    return tuple(item for item in sequence(document, *path) if isinstance(item, str))


def _at(document: object, path: tuple[str, ...]) -> object:
    for key in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(key)
    return document
