"""What is loaded, in the words of nft."""

import pytest

from netdiag.linux.nftables.loads import Load, load
from netdiag.linux.rtnetlink import Detail


@pytest.mark.parametrize(
    ("name", "fields", "words", "kind"),
    [
        ("meta", {"key": "iifname"}, "iifname", "ifname"),
        ("meta", {"key": "mark"}, "meta mark", "mark"),
        ("ct", {"key": "state"}, "ct state", "ct_state"),
        ("ct", {"key": "dst_ip", "direction": "original"}, "ct original ip daddr", "ipv4_addr"),
        ("fib", {"flags": 9, "result": "oif"}, "fib saddr . iif oif", "iface_index"),
        ("fib", {"flags": 32 | 2, "result": "oif"}, "fib daddr oif", "boolean"),
        ("numgen", {"type": "random", "modulus": 4, "offset": 2}, "numgen random mod 4 offset 2", "integer"),
        ("hash", {"type": "symhash", "modulus": 4}, "symhash mod 4", "integer"),
        ("rt", {"key": "nexthop4"}, "rt ip nexthop", "ipv4_addr"),
        ("socket", {"key": "mark"}, "socket mark", "mark"),
        ("exthdr", {"op": "tcpopt", "type": 2, "offset": 2, "len": 2}, "tcp option maxseg size", "integer"),
        ("exthdr", {"op": "ipv6", "type": 44, "flags": 1}, "exthdr frag", "boolean"),
    ],
)
def test_words_and_kinds(name: str, fields: dict[str, Detail], words: str, kind: str) -> None:
    found = load(name, fields)
    assert found is not None
    assert (found.words, found.kind.name) == (words, kind)


def test_a_payload_waits_for_its_header() -> None:
    found = load("payload", {"base": "transport", "offset": 2, "len": 2})
    assert found is not None
    assert (found.base, found.start, found.size, found.words) == ("transport", 16, 2, "")


def test_a_hash_is_of_something() -> None:
    source = load("meta", {"key": "mark"})
    found = load("hash", {"modulus": 2, "seed": 16}, source)
    assert isinstance(found, Load)
    assert found.words == "jhash meta mark mod 2 seed 0x10"


def test_statements_load_nothing() -> None:
    assert load("counter", {}) is None
