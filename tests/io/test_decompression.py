"""Compressed streams: members, frames, damage, bombs."""

import gzip
import zlib
from io import BytesIO
from random import Random

import pytest
import zstandard

from netdiag.errors import InputError
from netdiag.io import decompression
from netdiag.io.decompression import DamagedStream, decompressed, is_compressed

# Compressible, and longer than several pieces and blocks.
RANDOM = Random(1)
CONTENT = b"".join(b"%08d capture " % RANDOM.randrange(5000) for _ in range(200_000))


def _zstd(content: bytes, *, checksum: bool = True) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=checksum).compress(content)


SKIPPABLE = b"\x53\x2a\x4d\x18\x05\0\0\0hello"
FORMS = {
    "gzip": gzip.compress(CONTENT),
    "gzip members": gzip.compress(CONTENT[:1000]) + gzip.compress(b"") + gzip.compress(CONTENT[1000:]),
    "gzip padded": gzip.compress(CONTENT) + bytes(512),
    "zstd": _zstd(CONTENT),
    "zstd frames": _zstd(CONTENT[:1000]) + SKIPPABLE + _zstd(b"") + _zstd(CONTENT[1000:], checksum=False),
    "zstd streamed": b"".join(
        [
            (stream := zstandard.ZstdCompressor(level=1).compressobj()).compress(CONTENT[:70_000]),
            stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK),
            stream.compress(CONTENT[70_000:]),
            stream.flush(),
        ]
    ),
}


class _Trickle(BytesIO):
    """A pipe that never gives much at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(997, size or 0))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stream", [BytesIO, _Trickle])
def test_the_content_comes_in_pieces_of_bounded_size(form: str, stream: type[BytesIO]) -> None:
    assert is_compressed(FORMS[form][:4])
    pieces = list(decompressed(stream(FORMS[form])))
    assert b"".join(pieces) == CONTENT
    assert all(0 < len(piece) <= 1024 * 1024 for piece in pieces)


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_a_stream_that_ends_early_gives_what_is_there(form: str) -> None:
    got = bytearray()
    with pytest.raises(DamagedStream, match=f"the {form} stream ends early") as caught:
        _collect(FORMS[form][: len(FORMS[form]) // 2], got)
    assert caught.value.ends
    assert CONTENT.startswith(bytes(got))
    assert len(got) > len(CONTENT) // 4


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_a_broken_stream_gives_what_was_before(form: str) -> None:
    data = bytearray(FORMS[form])
    for at in range(len(data) // 2, len(data) // 2 + 64):
        data[at] ^= 0xFF
    with pytest.raises(DamagedStream, match=f"the {form} stream is damaged"):
        list(decompressed(BytesIO(bytes(data))))


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_what_follows_a_stream_and_is_none_is_damage(form: str) -> None:
    got = bytearray()
    with pytest.raises(DamagedStream, match=f"the {form} stream is damaged"):
        _collect(FORMS[form] + b"something else", got)
    assert bytes(got) == CONTENT


def test_a_zstd_block_of_a_size_that_cannot_be_is_damage() -> None:
    data = b"\x28\xb5\x2f\xfd\x00\x58" + (0x7FFFF << 3).to_bytes(3, "little")
    with pytest.raises(DamagedStream):
        list(decompressed(BytesIO(data + bytes(1 << 20))))


def test_a_window_of_absurd_size_is_refused() -> None:
    with pytest.raises(InputError, match="more than 128 MiB"):
        # Window descriptor 0xff: 3.75 TiB.
        list(decompressed(BytesIO(b"\x28\xb5\x2f\xfd\x00\xff" + b"\x02\0\x01a")))


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_a_bomb_is_refused_before_it_is_unpacked(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "_FREE", 4 * 1024 * 1024)
    monkeypatch.setattr(decompression, "_MOST_TIMES", 200)
    if form == "gzip":
        packer = zlib.compressobj(wbits=31)
        data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
    else:
        # Blocks of one byte that is repeated.
        data = b"\x28\xb5\x2f\xfd\x00\x58" + (131_072 << 3 | 2).to_bytes(3, "little") + b"a"
        data = data[:6] + data[6:] * 1000
    made = bytearray()
    with pytest.raises(InputError, match="which no capture does"):
        _collect(data, made)
    assert 0 < len(made) <= 16 * 1024 * 1024


def _collect(data: bytes, made: bytearray) -> None:
    """What came out stays in `made` even when it ends with an error."""
    for piece in decompressed(BytesIO(data)):
        made += piece
