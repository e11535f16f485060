"""The outputs held to schemas: each complaint as a line, none for a valid text."""

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import jsonschema
import xmlschema

from tests.house.tree import ROOT

DATA = ROOT / "tests" / "data"
PUBLISHED = ROOT / "netdiag" / "render" / "schema"
# What comes from elsewhere stays as it came.
SUMS = {
    "sarif-schema-2.1.0.json": "4ca040808b0e8415ce63c323702ebf2a7d96fe949d4a1f67dec2d34a5e3aecd0",
    "junit-10.xsd": "a1a816f58d1bf95ebabf371994df0b9246dee66ea9572fbec4f9296f1b2c0ff6",
}


def unchanged() -> bool:
    """Whether the files from elsewhere are those that were fetched."""
    return all(hashlib.sha256((DATA / name).read_bytes()).hexdigest() == value for name, value in SUMS.items())


def sarif(text: str) -> Iterator[str]:
    """Against OASIS' schema, with its formats (uri, uri-reference) checked."""
    return _json(DATA / "sarif-schema-2.1.0.json", text)


def strict_schema(name: str) -> dict[str, Any]:
    """A schema of the package that allows only the fields that it names.

    What is published allows others, so that an older reader accepts the output of a newer netdiag.
    """
    schema: dict[str, Any] = _without_more(json.loads((PUBLISHED / name).read_text(encoding="utf-8")))
    return schema


def _without_more(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_more(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if "object" in schema.get("type", ()) and "properties" in schema else {}
    return closed | {key: _without_more(value) for key, value in schema.items()}


def own_json(text: str) -> Iterator[str]:
    """Against the schema in the package."""
    return _complaints(_own_validator(), text)


def gitlab(text: str) -> Iterator[str]:
    """Against what GitLab's documentation says; fingerprints are unique."""
    yield from _json(DATA / "gitlab-code-quality.json", text)
    prints = [issue["fingerprint"] for issue in json.loads(text)]
    if len(set(prints)) < len(prints):
        yield "two issues with one fingerprint"


def junit(text: str) -> Iterator[str]:
    """Against the schema of Jenkins."""
    return _xml(DATA / "junit-10.xsd", text)


def checkstyle(text: str) -> Iterator[str]:
    """Against what checkstyle's own logger can write."""
    return _xml(DATA / "checkstyle-report.xsd", text)


SCHEMAS: dict[str, Callable[[str], Iterator[str]]] = {
    "sarif": sarif,
    "json": own_json,
    "gitlab": gitlab,
    "junit": junit,
    "checkstyle": checkstyle,
}


def _json(path: Path, text: str) -> Iterator[str]:
    return _complaints(_validator(path), text)


def _complaints(validator: Any, text: str) -> Iterator[str]:
    for error in validator.iter_errors(json.loads(text, parse_constant=_refuse)):
        yield f"{error.json_path}: {error.message[:300]}"


def _xml(path: Path, text: str) -> Iterator[str]:
    for error in _xsd(path).iter_errors(fromstring(text.encode())):
        yield f"{error.path}: {(error.reason or '')[:300]}"


@cache
def _validator(path: Path) -> Any:
    return _validator_of(json.loads(path.read_text(encoding="utf-8")))


@cache
def _own_validator() -> Any:
    return _validator_of(strict_schema("check-listeners.v1.json"))


def _validator_of(schema: dict[str, Any]) -> Any:
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


@cache
def _xsd(path: Path) -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(path))


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
