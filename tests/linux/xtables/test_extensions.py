"""Extensions as expressions, whatever the bytes."""

import random

from netdiag.linux.xtables.extensions import decode_extension
from tests.linux.xtables.samples import MATCHES, TARGETS


def test_a_target_says_that_it_is_one() -> None:
    found = decode_extension("MASQUERADE", 0, bytes(28), family="ip6", target=True)
    assert (found.name, found.fields, found.understood) == ("xt:MASQUERADE", {"target": True}, True)


def test_what_is_not_known_keeps_its_bytes() -> None:
    found = decode_extension("mystery", 3, b"\1\2", family="ip", target=False)
    assert (found.fields, found.understood) == ({"revision": 3, "hex": "0102"}, False)


def test_bytes_of_any_kind_give_an_expression() -> None:
    chance = random.Random(5)
    for _ in range(3000):
        name, revision, data, _text = chance.choice((*MATCHES, *TARGETS))
        broken = bytearray(data[: chance.randrange(len(data) + 1)])
        for _ in range(chance.randrange(4)):
            if broken:
                broken[chance.randrange(len(broken))] = chance.randrange(256)
        family = chance.choice(("ip", "ip6"))
        found = decode_extension(name, revision, bytes(broken), family=family, target=name.isupper())
        assert found.name == f"xt:{name}"
