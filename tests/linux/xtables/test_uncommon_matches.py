"""Matches that only have options."""

import random
import struct

import pytest

from netdiag.linux.xtables.blob import Blob
from netdiag.linux.xtables.extensions import decode_extension
from netdiag.linux.xtables.match_text import match_text
from netdiag.linux.xtables.uncommon_matches import decode_uncommon
from tests.linux.xtables.samples import UNCOMMON


@pytest.mark.parametrize(("name", "revision", "data", "text"), UNCOMMON)
def test_every_sample(name: str, revision: int, data: bytes, text: str) -> None:
    fields = decode_uncommon(name, revision, Blob(data, 4))
    assert fields == {"options": text}
    assert match_text(name, fields, "ip") == text


@pytest.mark.parametrize(
    ("name", "revision", "data"),
    [
        ("mystery", 0, b""),
        ("policy", 0, bytes(304) + struct.pack("=HH", 1, 2)),
        ("bpf", 1, struct.pack("=HHi", 1, 0, 5)),
        ("hashlimit", 1, bytes(400)),
        ("rt", 0, struct.pack("=IIIIBB", 0, 0, 0, 0, 8, 0)),
        ("connbytes", 0, struct.pack("=QQBB", 0, 0, 9, 0)),
    ],
)
def test_what_is_not_known(name: str, revision: int, data: bytes) -> None:
    assert decode_uncommon(name, revision, Blob(data, 4)) is None


def test_bytes_of_any_kind_give_an_expression() -> None:
    chance = random.Random(8)
    names = [*{name for name, *_ in UNCOMMON}, "u32", "hashlimit"]
    for _ in range(3000):
        data = bytes(chance.choice((0, 0, 0, 1, 5, 255)) for _ in range(chance.choice((8, 150, 320, 2000))))
        name = chance.choice(names)
        assert decode_extension(name, chance.randrange(4), data, family="ip", target=False).name == f"xt:{name}"
