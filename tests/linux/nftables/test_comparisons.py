"""Conditions in the words of nft."""

from dataclasses import replace

import pytest

from netdiag.linux.nftables.comparisons import compared, load_kind, load_words, ranged
from netdiag.linux.nftables.loads import Load, load


def payload(offset: int, size: int, base: str = "network") -> Load:
    found = load("payload", {"base": base, "offset": offset, "len": size})
    assert found is not None
    return found


def meta(key: str) -> Load:
    found = load("meta", {"key": key})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("one", "header", "operator", "value", "text"),
    [
        (payload(12, 4), "ip", "==", bytes([10, 0, 0, 1]), "ip saddr 10.0.0.1"),
        (payload(12, 1), "ip", "!=", bytes([10]), "ip saddr != 10.0.0.0/8"),
        (payload(12, 8), "ip", "==", bytes([10, 0, 0, 1, 10, 0, 0, 2]), "ip saddr 10.0.0.1 ip daddr 10.0.0.2"),
        (payload(12, 4), "", "==", bytes([10, 0, 0, 1]), "@nh,96,32 0xa000001"),
        (replace(payload(12, 4), mask=b"\xff\xf8\0\0"), "ip", "==", b"\x0a\0\0\0", "ip saddr 10.0.0.0/13"),
        (replace(payload(1, 1), mask=b"\xfc"), "ip", "==", b"\x20", "ip dscp cs1"),
        (replace(payload(13, 1, "transport"), mask=b"\x12"), "tcp", "==", b"\0", "tcp flags ! syn,ack"),
        (replace(payload(13, 1, "transport"), mask=b"\x12"), "tcp", "==", b"\x02", "tcp flags syn / syn,ack"),
        (meta("iifname"), "", "==", b"eth", 'iifname "eth*"'),
        (meta("oifname"), "", "!=", b"br0".ljust(16, b"\0"), 'oifname != "br0"'),
    ],
)
def test_comparisons(one: Load, header: str, operator: str, value: bytes, text: str) -> None:
    assert " ".join(compared(one, header, operator, value, str)) == text


def test_ranges() -> None:
    assert ranged(payload(2, 2, "transport"), "tcp", b"\0\x50", b"\0\x5a", True, str) == "tcp dport != 80-90"
    assert ranged(payload(2, 2, "transport"), "", b"\0\x50", b"\0\x5a", False, str) == "@th,16,16 80-90"


def test_loads_alone() -> None:
    assert load_words(payload(12, 4), "ip") == "ip saddr"
    assert load_kind(payload(12, 4), "ip").name == "ipv4_addr"
    masked = replace(meta("mark"), mask=b"\xff\0\0\0", flip=b"\0\0\0\0")
    assert load_words(masked, "").startswith("meta mark & 0x")
