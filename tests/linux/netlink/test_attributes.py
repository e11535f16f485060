"""Attributes are read within their bounds, whatever their lengths say."""

import pytest

from netdiag.linux.netlink.attributes import Malformed, attribute, attributes, each_attribute
from tests.linux.netlink.assembling import nla, u32


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
