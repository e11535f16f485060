"""Matches of every kind, as fields."""

import struct

import pytest

from netdiag.linux.xtables.blob import Blob
from netdiag.linux.xtables.matches import decode_match
from tests.linux.xtables.samples import MATCHES, PORTS


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
def test_what_is_not_known(name: str, revision: int) -> None:
    assert decode_match(name, revision, Blob(bytes(500), 4)) is None


def test_all_samples_are_known() -> None:
    assert [name for name, revision, data, _ in MATCHES if decode_match(name, revision, Blob(data, 4)) is None] == []
