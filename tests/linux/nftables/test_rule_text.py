"""Rules in the words of nft; all words are held against nft itself in tests/netlab."""

import random
import struct
from contextlib import suppress

from netdiag.errors import NetdiagError
from netdiag.linux.nftables.expressions import decode_expressions
from netdiag.linux.nftables.rule_text import native_text, set_words
from netdiag.linux.ruleset import ElementSet
from tests.linux.nftables.building import COUNTED, TCP_PORT_80, attribute, data, expression, number, verdict, word

PORTS = ElementSet(name="__set0", key_type="inet_service", elements=(("80", None), ("90", None)), anonymous=True)
WAYS = ElementSet(
    name="ways", key_type="inet_service", data_type="verdict", elements=(("80", "drop"),), anonymous=False
)
LOOKUP = expression("lookup", word(1, "__set0"), number(2, 1))
VMAP = expression("lookup", word(1, "ways"), number(2, 1), number(3, 0))


def text(*parts: bytes, family: str = "ip", comment: str = "") -> str:
    found = decode_expressions(memoryview(b"".join(parts)), family)[0]
    return native_text(found, family=family, sets=(PORTS, WAYS), comment=comment)


def test_what_only_names_the_header_is_left_out() -> None:
    assert text(*TCP_PORT_80, COUNTED, verdict(1), comment="x") == 'tcp dport 80 counter accept comment "x"'
    assert text(*TCP_PORT_80[:2], verdict(1)) == "meta l4proto tcp accept"


def test_sets_and_maps() -> None:
    assert text(*TCP_PORT_80[:3], LOOKUP, verdict(0)) == "tcp dport { 80, 90 } drop"
    assert text(*TCP_PORT_80[:3], VMAP) == "tcp dport vmap @ways"
    assert set_words(WAYS) == "{ 80 : drop }"


def test_translations() -> None:
    address = expression("immediate", number(1, 1), data(2, bytes([10, 0, 0, 5])))
    port = expression("immediate", number(1, 2), data(2, struct.pack("!H", 8080)))
    nat = expression("nat", number(1, 1), number(2, 2), number(3, 1), number(5, 2))
    assert text(*TCP_PORT_80, address, port, nat) == "tcp dport 80 dnat to 10.0.0.5:8080"
    assert text(*TCP_PORT_80, address, port, nat, family="inet") == "tcp dport 80 dnat ip to 10.0.0.5:8080"


def test_what_is_not_known_is_named() -> None:
    assert text(expression("mystery"), verdict(1)) == "[mystery] accept"
    assert text(expression("match", word(1, "comment"), attribute(3, b"x"))) == 'xt match "comment"'


def test_expressions_of_any_kind_have_a_text() -> None:
    chance = random.Random(11)
    whole = b"".join((*TCP_PORT_80, COUNTED, LOOKUP, VMAP, verdict(-3, "X")))
    for _ in range(3000):
        broken = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        with suppress(NetdiagError):
            text(bytes(broken), family=chance.choice(("ip", "ip6", "inet", "bridge", "arp", "netdev")))
