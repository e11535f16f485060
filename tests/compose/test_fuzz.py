"""Broken compose files: whatever is in them, only a ComposeError leaves the loader, and places stay true."""

import random

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from netdiag.compose.project import Project
from tests.compose.all_cases import ALL
from tests.compose.test_load import STACK
from tests.compose.tracing import assert_traced, spans_in, texts_in
from tests.each import each

ROUNDS = 60
PARTS = [
    "&a ", "*a", "<<: ", "!reset ", "!override ", "${", "${A:-", "}", "$", '"', "'", "|\n", ">-\n", "[", "]", "{", "}",
    ": ", "- ", "\r\n", "\r", "\t", "#", "\u00e9", "\U0001f600", "\ufeff", "---\n", "...\n", "%YAML 1.1\n", "\\", "? ",
    "!!binary ", "!!int ", "!<x> ", "@", "`", "%TAG ! x:\n", "\u2028", "\x85", "1e999", "0x", "~", "2020-99-01", ".inf",
    "\n    ", "\n", "extends: a", "include: [f]", "ports: ['1-9999:1-9999']", "\x00", "-" * 50, "9" * 400,
]  # fmt: skip
SEEDS = [STACK, *(text for case in ALL[100::9] for text in case.files.values())]


@each("seed", range(ROUNDS))
def test_mutants(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        data = mutant(chance, chance.choice(SEEDS)).encode("utf-8", "replace")
        if chance.random() < 0.1:
            place = chance.randrange(len(data) + 1)
            data = data[:place] + bytes([chance.randrange(256)]) + data[place:]
        loaded = read(data)
        if isinstance(loaded, ComposeError):
            assert loaded.span is not None
            assert "gave up" not in loaded.message, data
            continue
        files = {"f": data, "v.env": b"A='1'\n"}
        for text in texts_in(loaded):
            if text.span.path in files:
                assert_traced(text, files)
        assert all(0 <= span.start <= span.end for span in spans_in(loaded))


def mutant(chance: random.Random, text: str) -> str:
    """The text with some of it doubled, removed or disturbed."""
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(text) + 1)
        other = chance.randrange(len(text) + 1)
        match chance.randrange(3):
            case 0:
                text = text[:place] + chance.choice(PARTS) + text[place:]
            case 1:
                text = text[:place] + text[place + chance.randint(1, 30) :]
            case _:
                text = text[:place] + text[other : other + chance.randint(1, 60)] + text[place:]
    return text


def read(data: bytes) -> Project | ComposeError:
    """What the loader makes of it, with every file that it asks for being an env file or itself."""
    try:
        return load(
            Source("f", data),
            environ={"HOME": "/h"},
            read=lambda path: b"A='1'\n" if path.endswith(".env") else data,
        )
    except ComposeError as error:
        return error
