"""Record batches for tests: written by kafka-python, compressed by whoever is asked to."""

import struct
from collections.abc import Callable

from kafka.record.memory_records import MemoryRecordsBuilder

TIME = 1_700_000_000_500
Written = tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]
KEYS: list[Written] = [
    (b"key", b"value" * 20, [("trace", b"7")]),
    (None, b"\xff\x00", []),
    (b"", None, [("a", b""), ("b", b"\xfe")]),
    ("schlüssel".encode(), b"wert\n" * 3000, []),
]


def batch(records: list[Written] = KEYS, *, codec: int = 0, magic: int = 2, base: int = 0, **options: int) -> bytes:
    """A batch; each record is a millisecond later than the one before."""
    builder = MemoryRecordsBuilder(magic=magic, compression_type=codec, batch_size=1 << 24, **options)
    for number, (key, value, headers) in enumerate(records):
        if magic == 2:
            builder.append(timestamp=TIME + number, key=key, value=value, headers=headers)
        else:
            builder.append(timestamp=TIME + number, key=key, value=value)
    builder.close()
    data = bytes(builder.buffer())
    return struct.pack(">q", base) + data[8:] if magic == 2 else data


def repacked(plain: bytes, codec: int, pack: Callable[[bytes], bytes]) -> bytes:
    """The batch with its records compressed by `pack`; its checksum is wrong then."""
    packed = pack(plain[61:])
    head = bytearray(plain[:61])
    head[8:12] = struct.pack(">i", 49 + len(packed))
    head[22] = head[22] & ~7 | codec
    return bytes(head) + packed
