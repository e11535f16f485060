"""Frames out of a stream, however it is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.kafka.protocol import FrameError, FrameSplitter, frame, frame_size


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
