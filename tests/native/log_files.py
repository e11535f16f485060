"""Batches as logs have them: with offsets, with any codec, with checksums that hold."""

import gzip
import struct
from collections.abc import Callable, Mapping

import pyarrow as pa
from kafka.record.util import calc_crc32, calc_crc32c

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_PACK: Mapping[int, Callable[[bytes], bytes]] = {
    1: gzip.compress,
    **{
        number: lambda data, name=name: pa.Codec(name).compress(data, asbytes=True)  # type: ignore[misc]
        for number, name in enumerate(CODECS)
        if number > 1
    },
}


def changed(data: bytes, at: int, form: str, value: int) -> bytes:
    """A batch with another value in its header, and a checksum that holds."""
    made = bytearray(data)
    struct.pack_into(form, made, at, value)
    struct.pack_into(">I", made, 17, calc_crc32c(bytes(made[21:])))
    return bytes(made)


def moved(data: bytes, offset: int) -> bytes:
    """A batch that begins with this offset."""
    return struct.pack(">q", offset) + data[8:]


def packed(plain: bytes, codec: int) -> bytes:
    """A batch of magic 2 with its records compressed."""
    if codec == 0:
        return plain
    data = plain[:61] + _PACK[codec](plain[61:])
    return changed(changed(data, 8, ">i", len(data) - 12), 21, ">h", codec)


def messages(values: list[tuple[bytes, bytes]], *, magic: int, codec: int, base: int, time: int) -> bytes:
    """A message set: messages of magic 0 or 1 with offsets from `base` on, with a codec in one that is compressed.

    Each is a millisecond later than the one before.
    """
    # In magic 1 those in another one count from 0.
    first = 0 if codec and magic == 1 else base
    plain = b"".join(
        _message(first + number, magic, 0, time + number, key, value) for number, (key, value) in enumerate(values)
    )
    if codec == 0:
        return plain
    last = len(values) - 1
    return _message(base + last, magic, codec, time + last, None, _PACK[codec](plain))


def _message(offset: int, magic: int, codec: int, time: int, key: bytes | None, value: bytes) -> bytes:
    stamp = struct.pack(">q", time) if magic == 1 else b""
    sized = [struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part for part in (key, value)]
    checked = bytes([magic, codec]) + stamp + b"".join(sized)
    body = struct.pack(">I", calc_crc32(checked)) + checked
    return struct.pack(">qi", offset, len(body)) + body
