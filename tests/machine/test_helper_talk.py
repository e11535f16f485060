"""Order and frames: what goes in comes out, in any pieces; anything else is told, never trusted."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.engine.helper_container import (
    LARGEST_FRAME,
    LARGEST_ORDER,
    Frames,
    Garbled,
    Hello,
    Kind,
    Order,
    Terminal,
    decode_file,
    decode_hello,
    decode_order,
    encode_file,
    encode_hello,
    encode_order,
    frame,
    length_of,
)

ORDER = Order(
    words=("check-listeners", "--live", "ä.yml"),
    folder="/srv/me",
    container="abc",
    socket="/run/docker.sock",
    environment={"PORT": "9092"},
    files={"/srv/me/ä.yml": b"services:\n\xff"},
    folders=("/srv/me",),
    links={"/srv/link": "/srv/me"},
    results=("/srv/me/out.json",),
    stdin=b"\x00line",
    terminal=Terminal(out=True, errors=False, encoding="utf-8"),
)


def test_an_order_arrives_as_it_was_sent() -> None:
    data = encode_order(ORDER)
    assert length_of(data[:8]) == len(data) - 8
    assert decode_order(data[8:]) == ORDER


def test_no_file_shows_in_what_python_prints_of_an_order() -> None:
    assert "services" not in repr(ORDER)
    assert "9092" not in repr(ORDER)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"nonsense", b'{"words": 1}', b"[" * 100_000])
def test_what_is_no_order(body: bytes) -> None:
    with pytest.raises(Garbled):
        decode_order(body)


def test_an_order_with_damaged_files() -> None:
    document = json.loads(encode_order(ORDER)[8:]) | {"files": {"/a": "%%%"}}
    with pytest.raises(Garbled):
        decode_order(json.dumps(document).encode())


def test_an_endless_order() -> None:
    with pytest.raises(Garbled):
        length_of(struct.pack(">Q", LARGEST_ORDER + 1))


@given(st.lists(st.tuples(st.sampled_from(Kind), st.binary(max_size=40))), st.integers(1, 50))
def test_frames_arrive_whole_in_any_pieces(sent: list[tuple[Kind, bytes]], size: int) -> None:
    stream = b"".join(frame(kind, data) for kind, data in sent)
    frames = Frames()
    got = [one for at in range(0, len(stream), size) for one in frames.feed(stream[at : at + size])]
    assert got == sent


@pytest.mark.parametrize("data", [b"?\x00\x00\x00\x00", struct.pack(">cI", b"O", LARGEST_FRAME + 1)])
def test_what_is_no_frame(data: bytes) -> None:
    with pytest.raises(Garbled):
        list(Frames().feed(data))


def test_a_greeting() -> None:
    hello = Hello(protocol=1, version="0.1.0", rights=("SYS_ADMIN",))
    assert decode_hello(encode_hello(hello)) == hello
    for data in (b"", b"[]", b'{"protocol": "x", "version": 1, "rights": []}'):
        with pytest.raises(Garbled):
            decode_hello(data)


def test_a_file() -> None:
    assert decode_file(encode_file("/ä", b"\x00\xff")) == ("/ä", b"\x00\xff")
    for data in (b"", b"\x00\x00\x00\x09abc", b"\x00\x00\x00\x01\xff"):
        with pytest.raises(Garbled):
            decode_file(data)
