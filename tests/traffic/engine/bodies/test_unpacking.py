"""What others compress becomes what it was, and never more than is allowed."""

import gzip
import random
import struct
import sys
import tracemalloc

import pyarrow as pa
import pytest

from netdiag.traffic.engine.bodies.unpacking import (
    GZIP,
    LZ4,
    MOST,
    SNAPPY,
    ZSTD,
    Beyond,
    Damaged,
    Unknown,
    unpack,
)

DATA = random.Random(5).randbytes(3000) + b"abc" * 30_000


def xerial(data: bytes, block: int = 32_768) -> bytes:
    """As snappy-java's SnappyOutputStream frames it, which the Java client writes."""
    parts = [b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)]
    for at in range(0, len(data), block):
        packed = pa.Codec("snappy").compress(data[at : at + block], asbytes=True)
        parts.append(struct.pack(">i", len(packed)) + packed)
    return b"".join(parts)


def packed(data: bytes) -> dict[str, tuple[int, bytes]]:
    return {
        "gzip": (GZIP, gzip.compress(data)),
        "snappy": (SNAPPY, pa.Codec("snappy").compress(data, asbytes=True)),
        "xerial": (SNAPPY, xerial(data)),
        "lz4": (LZ4, pa.Codec("lz4").compress(data, asbytes=True)),
        "zstd": (ZSTD, pa.Codec("zstd").compress(data, asbytes=True)),
    }


WAYS = tuple(packed(b""))


@pytest.mark.parametrize("way", WAYS)
def test_what_was_compressed_comes_back(way: str) -> None:
    codec, data = packed(DATA)[way]
    assert unpack(codec, data) == DATA
    assert unpack(codec, data, len(DATA)) == DATA


@pytest.mark.parametrize("way", WAYS)
def test_the_bound_holds(way: str) -> None:
    codec, data = packed(DATA)[way]
    with pytest.raises(Beyond):
        unpack(codec, data, len(DATA) - 1)


@pytest.mark.parametrize("way", WAYS)
def test_a_bomb_takes_no_more_memory_than_the_bound(way: str) -> None:
    codec, data = packed(bytes(64 << 20))[way]
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    with pytest.raises(Beyond):
        unpack(codec, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * MOST
    assert pa.total_allocated_bytes() <= before + MOST


def test_a_small_batch_becomes_no_large_one() -> None:
    codec, data = packed(bytes(MOST - 1))["zstd"]
    assert len(data) < 4096
    with pytest.raises(Beyond):
        unpack(codec, data)


@pytest.mark.parametrize("way", WAYS)
def test_any_bytes_are_unpacked_or_damaged(way: str) -> None:
    codec, data = packed(DATA[:4000])[way]
    dice, damaged = random.Random(way), 0
    for _ in range(400):
        broken = bytearray(data[: dice.randrange(len(data))] if dice.random() < 0.5 else data)
        for _ in range(dice.randrange(4)):
            if broken:
                broken[dice.randrange(min(len(broken), 64))] = dice.randrange(256)
        try:
            assert len(unpack(codec, bytes(broken), 8000)) <= 8000
        except (Damaged, Beyond):
            damaged += 1
    assert damaged > 100


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_other_codecs_are_unknown(codec: int) -> None:
    with pytest.raises(Unknown):
        unpack(codec, DATA)


def test_without_pyarrow_only_gzip_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ways = packed(DATA)
    assert unpack(*ways.pop("gzip")) == DATA
    for codec, data in ways.values():
        with pytest.raises(Unknown):
            unpack(codec, data)
