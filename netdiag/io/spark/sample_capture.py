"""A small capture in which every usual thing happens once: what is analyzed before there is anything to read.

One client of one broker: it asks what the broker can, for metadata, produces, fetches twice within a session, commits,
joins a group and says that it is alive.
"""

import struct
from collections.abc import Iterator
from typing import Any

from netdiag.kafka import protocol as wire

_ETHERNET = 1
_FIN, _SYN, _ACK = 0x01, 0x02, 0x10
_START = 1_700_000_000_000_000_000
_STEP = 1_000_000
_CLIENT, _BROKER = (b"\x0a\x00\x00\x01", 40_000), (b"\x0a\x00\x00\x02", 9092)
_BATCH = struct.pack(">qiibIhiqqqhii", 0, 49, 0, 2, 0, 0, 0, 5, 5, -1, -1, -1, 1)
_TOPIC = "orders"

# Api key, version, request, response; None for a request that is not answered.
_EXCHANGES: tuple[tuple[int, int, dict[str, Any], dict[str, Any] | None], ...] = (
    (18, 3, {"client_software_name": "netdiag", "client_software_version": "1"}, {}),
    (3, 12, {"topics": [{"name": _TOPIC}]}, {"brokers": [{"node_id": 1, "host": "kafka", "port": 9092}]}),
    *(
        (
            0,
            version,
            {"acks": acks, "topic_data": [{"name": _TOPIC, "partition_data": [{"index": 0, "records": _BATCH}]}]},
            {"responses": [{"name": _TOPIC, "partition_responses": [{"index": 0}]}]} if acks else None,
        )
        for version, acks in ((9, 1), (7, 0), (7, 1))
    ),
    *(
        (
            1,
            12,
            {"session_id": 7 if epoch else 0, "session_epoch": epoch, "topics": topics},
            {
                "session_id": 7,
                "responses": [{"topic": _TOPIC, "partitions": [{"partition_index": 0, "records": _BATCH}]}],
            },
        )
        for epoch, topics in ((0, [{"topic": _TOPIC, "partitions": [{"partition": 0, "fetch_offset": 3}]}]), (1, []))
    ),
    (2, 7, {"topics": [{"name": _TOPIC, "partitions": [{"partition_index": 0, "timestamp": -1}]}]}, {}),
    (8, 8, {"group_id": "group", "topics": [{"name": _TOPIC, "partitions": [{"partition_index": 0}]}]}, {}),
    (9, 7, {"group_id": "group", "topics": [{"name": _TOPIC, "partition_indexes": [0]}]}, {}),
    (11, 6, {"group_id": "group", "protocol_type": "consumer"}, {"members": []}),
    *((12, 4, {"group_id": "group", "generation_id": 1}, {}) for _ in range(8)),
)


def sample_pcap() -> bytes:
    """As tcpdump writes it, with nanoseconds."""
    records = (
        struct.pack("<IIII", *divmod(time, 1_000_000_000), len(data), len(data)) + data for time, data in _packets()
    )
    return struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, _ETHERNET) + b"".join(records)


def _packets() -> Iterator[tuple[int, bytes]]:
    next_sequence = [1000, 5000]
    for number, (side, flags, payload) in enumerate(_segments()):
        yield _START + number * _STEP, _frame(side, flags, next_sequence, payload)
        next_sequence[side] += len(payload) + bool(flags & (_SYN | _FIN))


def _segments() -> Iterator[tuple[int, int, bytes]]:
    yield 0, _SYN, b""
    yield 1, _SYN | _ACK, b""
    yield 0, _ACK, b""
    for number, (key, version, request, response) in enumerate(_EXCHANGES):
        asked = wire.encode_request(key, version, number, "sample", request)
        # In two pieces: a message may end anywhere.
        yield 0, _ACK, asked[:20]
        yield 0, _ACK, asked[20:]
        yield 1, _ACK, b""
        if response is not None:
            yield 1, _ACK, wire.encode_response(key, version, number, response)
    for side in (0, 1):
        yield side, _FIN | _ACK, b""


def _frame(side: int, flags: int, sequences: list[int], payload: bytes) -> bytes:
    (source, source_port), (destination, port) = (_CLIENT, _BROKER) if side == 0 else (_BROKER, _CLIENT)
    acknowledged = sequences[1 - side] if flags & _ACK else 0
    tcp = struct.pack(">HHIIBBHHH", source_port, port, sequences[side], acknowledged, 0x50, flags, 64_000, 0, 0)
    total = 20 + len(tcp) + len(payload)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, total, 0, 0x4000, 64, 6, 0) + source + destination
    return bytes(12) + b"\x08\x00" + ip + tcp + payload
