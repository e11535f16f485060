"""Structs of extensions, read within their bounds."""

import struct

import pytest

from netdiag.linux.xtables.blob import BadBlob, Blob, network_text, prefix_length


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
