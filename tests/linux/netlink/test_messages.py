"""Attributes are read within their bounds, whatever their lengths say."""

import pytest

from netdiag.linux.netlink.messages import (
    Fields,
    Malformed,
    MessageType,
    Reader,
    attribute,
    attributes,
    each_attribute,
    hardware_address,
    hexadecimal,
    ip_address,
    network_number,
    nothing,
    number,
    read_fields,
    request,
    seconds,
    signed,
    text,
    truth,
    word,
)
from tests.linux.netlink.message_bytes import message, nla, u8, u16, u32


def test_values_by_number_without_the_marks() -> None:
    data = nla(1, b"abc") + nla(0x8000 | 2, u32(7)) + nla(0x4000 | 3, b"")
    assert attributes(data) == {1: b"abc", 2: u32(7), 3: b""}
    assert attributes(b"xxxx" + data, 4) == attributes(data)


def test_the_last_of_a_number_counts_and_a_list_keeps_all() -> None:
    data = nla(5, b"one") + nla(5, b"two")
    assert attributes(data) == {5: b"two"}
    assert list(each_attribute(data)) == [(5, b"one"), (5, b"two")]


def test_the_last_one_may_lack_its_padding() -> None:
    assert attributes(nla(1, b"abc")[:-1]) == {1: b"abc"}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x03\x00\x01\x00", id="shorter than its header"),
        pytest.param(b"\x00\x00\x01\x00" * 1000, id="length 0, which would never end"),
        pytest.param(b"\xff\xff\x01\x00abcd", id="longer than the message"),
        pytest.param(nla(1, b"abcd") + b"\x04", id="a rest that is no attribute"),
    ],
)
def test_a_length_that_lies_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        attributes(data)
    with pytest.raises(Malformed):
        list(each_attribute(data))


def test_encoding_is_what_decoding_reads() -> None:
    assert attribute(3, b"veth\0") == nla(3, b"veth\0")
    with pytest.raises(Malformed):
        attribute(1, b"x" * 0x10000)


def test_numbers_are_read_by_their_size() -> None:
    assert [number(data) for data in (u8(7), u16(700), u32(70000))] == [7, 700, 70000]
    assert signed(u32(0xFFFFFFFF)) == -1
    assert network_number(b"\x12\xb5") == 4789
    assert hexadecimal(u16(0x4000)) == "0x4000"
    assert seconds(u32(154)) == 1.54


@pytest.mark.parametrize("read", [number, signed, network_number, truth])
@pytest.mark.parametrize("size", [0, 3, 5, 16])
def test_a_number_of_another_size_is_malformed(read: Reader, size: int) -> None:
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
    assert ip_address(data) == address


@pytest.mark.parametrize("size", [0, 1, 5, 15, 17])
def test_an_ip_address_of_another_size_is_malformed(size: int) -> None:
    with pytest.raises(Malformed):
        ip_address(bytes(size))


def test_words_end_at_their_nul_and_keep_foreign_bytes_legible() -> None:
    assert text(b"eth0\0rubbish") == "eth0"
    assert text(b"a\xff\0") == "a\\xff"
    assert hardware_address(bytes.fromhex("0242ac110002")) == "02:42:ac:11:00:02"
    assert word({1: "one"})(u32(1)) == "one"
    assert word({1: "one"})(u32(9)) == "9"


def test_fields_that_nobody_knows_are_told_as_digits() -> None:
    undecoded: dict[str, str] = {}
    fields: Fields = {
        1: ("mtu", number),
        2: (None, lambda data: {"a": 1, "b": 2}),
        3: ("", nothing),
    }
    found = {1: u32(5), 2: b"", 3: b"", 9: b"\xab" * 100}
    assert read_fields(found, fields, where="info_data", undecoded=undecoded) == {"mtu": 5, "a": 1, "b": 2}
    assert undecoded == {"info_data/9": "ab" * 64}


def test_a_request_is_a_dump_unless_told_otherwise() -> None:
    asked = request(MessageType.GET_LINK, b"body", nla(29, u32(12)))
    assert asked == message(18, b"body" + nla(29, u32(12)), flags=0x301, sequence=0)
    assert request(90, b"body", flags=0) == message(90, b"body", flags=1, sequence=0)
