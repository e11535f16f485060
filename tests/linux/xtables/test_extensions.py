"""Matches and targets as fields and expressions, whatever the bytes of their structs."""

import random
import struct

import pytest

from netdiag.linux.xtables.matches import decode_match, match_text
from netdiag.linux.xtables.rules import decode_extension
from netdiag.linux.xtables.structs import BadBlob, Blob, network_text, prefix_length
from netdiag.linux.xtables.targets import decode_target, reject_kind
from tests.linux.xtables.samples import MATCHES, PORTS, TARGETS, UNCOMMON, nat, old_nat


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


def test_ports_that_mean_all_are_left_out() -> None:
    blob = Blob(PORTS + bytes([0, 0]), 4)
    assert decode_match("udp", 0, blob) == {"destination_ports": [80, 90]}


def test_connection_tracking() -> None:
    addresses = bytes([10, 0, 0, 1]).ljust(16, b"\0") + b"\xff\xff\xff\xff".ljust(16, b"\0") + bytes(96)
    numbers = struct.pack("=IIHHHHHHHHHHHHH", 5, 10, 6, 7, 0, 0, 0, 1 | 4 | 128 | 256 | 4096, 1, 8, 0, 9, 0, 0, 0)
    assert decode_match("conntrack", 3, Blob(addresses + numbers, 4)) == {
        "states": ["NEW"],
        "original_source": "10.0.0.1/32",
        "expires": [5, 10],
        "original_source_ports": [7, 9],
        "direction": "ORIGINAL",
        "not": ["states"],
    }


@pytest.mark.parametrize(("name", "revision"), [("mystery", 0), ("conntrack", 9), ("mark", 7), ("iprange", 0)])
def test_matches_that_are_not_known(name: str, revision: int) -> None:
    assert decode_match(name, revision, Blob(bytes(500), 4)) is None


def test_negations_are_named() -> None:
    assert decode_match("length", 0, Blob(struct.pack("=HHB", 1, 2, 1), 4)) == {"length": [1, 2], "not": ["length"]}


def test_unknown_revisions_and_modes() -> None:
    assert decode_match("owner", 0, Blob(bytes(40), 4)) is None
    assert decode_match("statistic", 0, Blob(struct.pack("=HHI", 9, 0, 0), 4)) is None


@pytest.mark.parametrize(("name", "revision", "data", "text"), UNCOMMON)
def test_matches_that_only_have_options(name: str, revision: int, data: bytes, text: str) -> None:
    fields = decode_match(name, revision, Blob(data, 4))
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
def test_options_that_are_not_known(name: str, revision: int, data: bytes) -> None:
    assert decode_match(name, revision, Blob(data, 4)) is None


def test_options_of_any_bytes_give_an_expression() -> None:
    chance = random.Random(8)
    names = [*{name for name, *_ in UNCOMMON}, "u32", "hashlimit"]
    for _ in range(3000):
        data = bytes(chance.choice((0, 0, 0, 1, 5, 255)) for _ in range(chance.choice((8, 150, 320, 2000))))
        name = chance.choice(names)
        assert decode_extension(name, chance.randrange(4), data, family="ip", target=False).name == f"xt:{name}"


def test_both_structs_of_a_translation_say_the_same() -> None:
    expected = {"first": "10.0.0.1", "last": "10.0.0.1", "ports": [80, 80]}
    assert decode_target("DNAT", 2, Blob(nat(3, "10.0.0.1", "10.0.0.1", 80, 80), 4)) == expected
    assert decode_target("DNAT", 0, Blob(old_nat(3, "10.0.0.1", "10.0.0.1", 80, 80), 4)) == expected


def test_rejections_have_one_vocabulary() -> None:
    found = [reject_kind(word) for word in ("tcp-reset", "icmp-proto-unreachable", "icmp6-adm-prohibited")]
    assert found == ["tcp reset", "icmp prot-unreachable", "icmpv6 admin-prohibited"]


def test_targets_that_are_not_known() -> None:
    assert decode_target("MYSTERY", 0, Blob(b"", 4)) is None
    assert decode_target("SNAT", 0, Blob(struct.pack("=I", 2) + bytes(30), 4)) is None


def test_numbers_names_and_addresses() -> None:
    blob = Blob(struct.pack("=BHIQ", 1, 2, 3, 4) + b"\x1f\x90" + b"br0\0xx" + bytes([10, 0, 0, 1]), 4)
    assert (blob.u8(0), blob.u16(1), blob.u32(3), blob.u64(7), blob.port(15)) == (1, 2, 3, 4, 8080)
    assert blob.name(17, 6) == "br0"
    assert blob.address(23) == "10.0.0.1"
    assert Blob(bytes(15) + b"\1", 6).address(0) == "::1"


def test_what_is_too_short_is_an_error() -> None:
    for read in (lambda: Blob(b"", 4).u8(0), lambda: Blob(b"abc", 4).u32(0), lambda: Blob(b"abc", 4).address(0)):
        with pytest.raises(BadBlob):
            read()


@pytest.mark.parametrize(
    ("name", "mask", "device"),
    [
        (b"eth0\0", b"\xff" * 5, "eth0"),
        (b"eth+", b"\xff" * 3, "eth+"),
        (b"", b"", ""),
        (b"x" * 15, b"\xff" * 16, "x" * 15),
    ],
)
def test_devices_end_where_their_mask_does(name: bytes, mask: bytes, device: str) -> None:
    assert Blob(name.ljust(16, b"\0") + mask.ljust(16, b"\0"), 4).device(0, 16) == device


def test_masks_with_and_without_holes() -> None:
    assert prefix_length(b"\xff\xc0\0\0") == 10
    assert prefix_length(b"\xff\0\xff\0") is None
    assert network_text("10.0.0.0", "255.0.255.0") == "10.0.0.0/255.0.255.0"
    assert network_text("fd00::", "ff00::") == "fd00::/8"
