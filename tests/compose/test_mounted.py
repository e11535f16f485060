"""Secrets and configs that compose refuses."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("services: {a: {image: x, secrets: [s]}}\n", [("undefined-secret", 1, 36)]),
        ("services: {a: {image: x, configs: [{source: c, target: /c}]}}\n", [("undefined-config", 1, 45)]),
        ("services: {a: {image: x, secrets: [s]}}\nsecrets: {s: {file: ./s}}\n", []),
        ("services: {a: {image: x}}\nsecrets: {s: {file: ./s, environment: S}}\n", [("schema", 2, 11)]),
        ("services: {a: {image: x}}\nsecrets: {s: {}}\n", [("schema", 2, 11)]),
        ("services: {a: {image: x}}\nsecrets: {s: {external: true}}\n", []),
        ("services: {a: {image: x}}\nconfigs: {c: {content: a}}\n", []),
        ("services: {a: {image: x, secrets: [~], profiles: [p]}}\n", []),
    ],
)
def test_what_is_said_and_where(text: str, said: list[tuple[str, int, int]]) -> None:
    problems = load(Source("compose.yaml", text), profiles=()).problems
    assert [
        (p.code, p.span.line, p.span.column) for p in problems if "secret" in p.message or "config" in p.message
    ] == said
