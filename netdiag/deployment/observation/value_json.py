"""Values as JSON and back: frozen dataclasses, enums, tuples and mappings, driven by their own annotations.

A reader takes a document by strangers: what is not exactly of the type asked for is a ValueError that says where, and
nothing else. Fields that have a default may be absent, fields that are unknown are an error: the document would mean
more than is read. A union of dataclasses is written with the name of the class under "is".
"""

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

_KIND = "is"
_UNIONS = (Union, types.UnionType)
_SIMPLE = {str: "a text", int: "a number", float: "a number", bool: "true or false"}
_LARGEST = 2**63


def encode(value: object, hint: Any) -> Any:
    """A value of an annotated type as JSON."""
    origin, arguments = get_origin(hint), get_args(hint)
    if value is None or hint in _SIMPLE:
        return value
    if origin in _UNIONS:
        return _encode_union(value, arguments)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if _is_record(hint):
        hints = _hints(hint)
        return {one.name: encode(getattr(value, one.name), hints[one.name]) for one in _fields(hint)}
    if isinstance(value, tuple | frozenset):
        items = sorted(value) if isinstance(value, frozenset) else value
        return [encode(item, _item(arguments, index)) for index, item in enumerate(items)]
    if isinstance(value, Mapping):
        return {str(key): encode(item, arguments[1]) for key, item in value.items()}
    raise TypeError(f"no encoding for {hint}")


def decode(document: Any, hint: Any, where: str = "it") -> Any:
    """A value of an annotated type out of JSON; ValueError with the place where it is something else."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _SIMPLE:
        return _simple(document, hint, where)
    if origin in _UNIONS:
        return _decode_union(document, arguments, where)
    if isinstance(hint, type) and issubclass(hint, Enum):
        try:
            return hint(document)
        except ValueError:
            raise ValueError(f"{where} is not one of {', '.join(str(one.value) for one in hint)[:200]}") from None
    if hint is datetime:
        return _moment(document, where)
    if _is_record(hint):
        return _decode_dataclass(document, hint, where)
    if origin is tuple or origin is frozenset:
        return _decode_items(document, origin, arguments, where)
    if origin is not None and issubclass(origin, Mapping):
        _must(isinstance(document, dict), where, "an object")
        named = ((_simple(key, str, where), item) for key, item in document.items())
        return {key: decode(item, arguments[1], f"{where}.{key[:60]}") for key, item in named}
    raise TypeError(f"no decoding for {hint}")


def _encode_union(value: object, options: tuple[Any, ...]) -> Any:
    classes = [one for one in options if _is_record(one)]
    if len(classes) > 1:
        return {_KIND: type(value).__name__, **encode(value, type(value))}
    (option,) = [one for one in options if one is not types.NoneType]
    return encode(value, option)


def _decode_union(document: Any, options: tuple[Any, ...], where: str) -> Any:
    if document is None and types.NoneType in options:
        return None
    classes = {one.__name__: one for one in options if _is_record(one)}
    if len(classes) > 1:
        _must(isinstance(document, dict), where, "an object")
        kind = document.get(_KIND)
        _must(isinstance(kind, str) and kind in classes, where, f"one of {', '.join(classes)}")
        return _decode_dataclass({key: item for key, item in document.items() if key != _KIND}, classes[kind], where)
    (option,) = [one for one in options if one is not types.NoneType]
    return decode(document, option, where)


def _decode_dataclass(document: Any, hint: Any, where: str) -> Any:
    _must(isinstance(document, dict), where, "an object")
    hints, known = _hints(hint), {one.name: one for one in _fields(hint)}
    for key in document:
        if key not in known:
            raise ValueError(f"{where} has no {str(key)[:60]!r}")
    values = {}
    for name, one in known.items():
        if name in document:
            values[name] = decode(document[name], hints[name], f"{where}.{name}")
        elif one.default is MISSING and one.default_factory is MISSING:
            raise ValueError(f"{where} lacks {name!r}")
    return hint(**values)


def _decode_items(document: Any, origin: type, arguments: tuple[Any, ...], where: str) -> Any:
    _must(isinstance(document, list), where, "a list")
    if origin is tuple and Ellipsis not in arguments and len(document) != len(arguments):
        raise ValueError(f"{where} is not a list of {len(arguments)}")
    return origin(decode(item, _item(arguments, index), f"{where}[{index}]") for index, item in enumerate(document))


def _item(arguments: tuple[Any, ...], index: int) -> Any:
    """The type of an item: of a list, or of one place of a tuple."""
    return arguments[0] if Ellipsis in arguments or len(arguments) == 1 else arguments[index]


def _simple(document: Any, hint: Any, where: str) -> Any:
    # True is an int to Python.
    is_it = isinstance(document, hint) and (hint is bool or not isinstance(document, bool))
    if hint is float and isinstance(document, int) and not isinstance(document, bool):
        is_it = True
    _must(is_it, where, _SIMPLE[hint])
    if isinstance(document, int) and abs(document) >= _LARGEST:
        raise ValueError(f"{where} is too large")
    if isinstance(document, str) and not document.isascii():
        try:
            document.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{where} contains half a character") from None
    return document


def _moment(document: Any, where: str) -> datetime:
    _must(isinstance(document, str), where, "a time")
    try:
        return datetime.fromisoformat(document)
    except ValueError:
        raise ValueError(f"{where} is not a time") from None


def _is_record(hint: Any) -> bool:
    return is_dataclass(hint)


def _must(holds: bool, where: str, what: str) -> None:
    if not holds:
        raise ValueError(f"{where} is not {what}")


@cache
def _hints(hint: type) -> Mapping[str, Any]:
    return get_type_hints(hint)


@cache
def _fields(hint: Any) -> tuple["Field[Any]", ...]:
    return tuple(one for one in fields(hint) if one.init)
