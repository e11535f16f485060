"""Values of attributes."""

import pytest

from netdiag.linux.netlink import readers
from netdiag.linux.netlink.attributes import Malformed
from tests.linux.netlink.assembling import u8, u16, u32


def test_numbers_are_read_by_their_size() -> None:
    assert [readers.number(data) for data in (u8(7), u16(700), u32(70000))] == [7, 700, 70000]
    assert readers.signed(u32(0xFFFFFFFF)) == -1
    assert readers.network_number(b"\x12\xb5") == 4789
    assert readers.hexadecimal(u16(0x4000)) == "0x4000"
    assert readers.seconds(u32(154)) == 1.54


@pytest.mark.parametrize("read", [readers.number, readers.signed, readers.network_number, readers.truth])
@pytest.mark.parametrize("size", [0, 3, 5, 16])
def test_a_number_of_another_size_is_malformed(read: readers.Reader, size: int) -> None:
    with pytest.raises(Malformed):
        read(b"\0" * size)


@pytest.mark.parametrize(
    ("data", "address"),
    [
        (b"\x0a\x00\x00\x01", "10.0.0.1"),
        (bytes(16), "::"),
        (bytes.fromhex("fd000000000000000000000000000001"), "fd00::1"),
        (bytes(10) + b"\xff\xff\x7f\x00\x00\x01", "::ffff:127.0.0.1"),
    ],
)
def test_ip_addresses(data: bytes, address: str) -> None:
    assert readers.ip_address(data) == address


@pytest.mark.parametrize("size", [0, 1, 5, 15, 17])
def test_an_ip_address_of_another_size_is_malformed(size: int) -> None:
    with pytest.raises(Malformed):
        readers.ip_address(bytes(size))


def test_words_end_at_their_nul_and_keep_foreign_bytes_legible() -> None:
    assert readers.text(b"eth0\0rubbish") == "eth0"
    assert readers.text(b"a\xff\0") == "a\\xff"
    assert readers.hardware_address(bytes.fromhex("0242ac110002")) == "02:42:ac:11:00:02"
    assert readers.word({1: "one"})(u32(1)) == "one"
    assert readers.word({1: "one"})(u32(9)) == "9"


def test_fields_that_nobody_knows_are_told_as_digits() -> None:
    undecoded: dict[str, str] = {}
    fields: readers.Fields = {
        1: ("mtu", readers.number),
        2: (None, lambda data: {"a": 1, "b": 2}),
        3: ("", readers.nothing),
    }
    found = {1: u32(5), 2: b"", 3: b"", 9: b"\xab" * 100}
    assert readers.read_fields(found, fields, where="info_data", undecoded=undecoded) == {"mtu": 5, "a": 1, "b": 2}
    assert undecoded == {"info_data/9": "ab" * 64}
