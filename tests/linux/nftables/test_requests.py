"""Questions as the bytes that they are."""

import struct

from netdiag.linux.nftables import requests


def test_a_dump_of_everything() -> None:
    asked = (
        (requests.get_tables(), 1),
        (requests.get_chains(), 4),
        (requests.get_rules(), 7),
        (requests.get_sets(), 10),
        (requests.get_flowtables(), 23),
    )
    for request, kind in asked:
        assert request == struct.pack("=IHHIIBBH", 20, 10 << 8 | kind, 0x301, 0, 0, 0, 0, 0)


def test_the_elements_of_a_set() -> None:
    request = requests.get_elements("ip", "t", "name")
    assert struct.unpack_from("=IHH", request) == (len(request), 10 << 8 | 13, 0x301)
    assert request[16] == 2
    assert request[20:] == b"\6\0\1\0t\0\0\0\x09\0\2\0name\0\0\0\0"
