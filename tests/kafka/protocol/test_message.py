"""Whole messages: header and body together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.kafka import protocol as wire
from netdiag.kafka.protocol import FrameError, FrameSplitter, frame, frame_size

GOLDEN_API_VERSIONS = bytes.fromhex(
    "0000001d"  # size 29
    "0012 0004 00000007"  # ApiVersions, version 4, correlation id 7
    "0007 6e657464696167"  # client id "netdiag", never compact
    "00"  # no tagged fields in the header
    "08 6e657464696167"  # software name "netdiag", compact
    "02 30"  # software version "0"
    "00"
)


def test_a_flexible_request_is_written_as_the_protocol_says() -> None:
    body = {"client_software_name": "netdiag", "client_software_version": "0"}
    assert wire.encode_request(18, 4, 7, "netdiag", body) == GOLDEN_API_VERSIONS


def test_a_request_is_read_by_its_own_header() -> None:
    request = wire.decode_request(GOLDEN_API_VERSIONS[4:])
    assert (request.api_key, request.api_version, request.correlation_id, request.client_id) == (18, 4, 7, "netdiag")
    assert request.body.value == {"client_software_name": "netdiag", "client_software_version": "0"}


def test_the_first_controlled_shutdown_has_no_client_id() -> None:
    data = wire.encode_request(7, 0, 3, "ignored", {"broker_id": 5})
    assert data.hex() == "0000000c" + "00070000" + "00000003" + "00000005"
    assert wire.decode_request(data[4:]).client_id is None


def test_a_null_client_id_stays_null() -> None:
    assert wire.decode_request(wire.encode_request(3, 1, 1, None, {})[4:]).client_id is None


def test_an_api_versions_response_has_the_oldest_header() -> None:
    data = wire.encode_response(18, 4, 7, {"error_code": 0})
    assert data[4:10].hex() == "000000070000"
    assert wire.decode_response(data[4:], 18, 4).correlation_id == 7


def test_an_unsupported_version_is_answered_in_version_0() -> None:
    data = wire.encode_response(18, 0, 7, {"error_code": 35, "api_keys": ({"api_key": 18, "max_version": 3},)})
    response = wire.decode_response(data[4:], 18, 4)
    assert response.api_version == 0
    assert response.body.value["api_keys"][0]["max_version"] == 3


@pytest.mark.parametrize("data", ["", "0012", "00120004 0000", "00120004 00000007 7fff"])
def test_a_short_request_is_the_senders_fault(data: str) -> None:
    with pytest.raises(wire.RemoteProtocolError):
        wire.decode_request(bytes.fromhex(data))


def test_an_unknown_api_key_is_told_apart() -> None:
    with pytest.raises(wire.UnknownMessage):
        wire.decode_request(bytes.fromhex("7fff 0000 00000001 ffff"))


@given(st.lists(st.binary(min_size=4, max_size=40), max_size=6), st.lists(st.integers(1, 30)))
def test_any_cutting_gives_the_same_frames(messages: list[bytes], sizes: list[int]) -> None:
    stream = b"".join(frame(message) for message in messages)
    splitter = FrameSplitter()
    found: list[bytes] = []
    while stream:
        size = sizes.pop() if sizes else len(stream)
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == messages
    assert splitter.pending == b""


@pytest.mark.parametrize("prefix", ["7fffffff", "ffffffff", "80000000", "00000003", "00000000", "48545450"])
def test_an_impossible_size_is_refused_on_its_four_bytes(prefix: str) -> None:
    splitter = FrameSplitter(largest=1 << 20)
    assert list(splitter.feed(bytes.fromhex(prefix)[:3])) == []
    with pytest.raises(FrameError):
        list(splitter.feed(bytes.fromhex(prefix)[3:]))


def test_what_has_come_of_a_frame_can_be_seen() -> None:
    splitter = FrameSplitter()
    assert list(splitter.feed(b"\x00\x00\x00\x09abc")) == []
    assert splitter.pending == b"\x00\x00\x00\x09abc"


def test_the_error_names_size_and_limit() -> None:
    with pytest.raises(FrameError, match="a message of 2147483647 bytes is announced, between 4 and 1000 are possible"):
        frame_size(b"\x7f\xff\xff\xff", 1000)
