"""The messages of captures that are made: what a client asks and a broker answers, as the bytes of packets."""

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netdiag.kafka import protocol as wire

ASK, ANSWER = 0, 1
_PRODUCE, _FETCH, _METADATA, _OFFSET_COMMIT, _HEARTBEAT, _API_VERSIONS = 0, 1, 3, 8, 12, 18
_SYN, _ACK, _PUSH = 0x02, 0x10, 0x08
_SEGMENT = 1448
_HEADERS = 14 + 20 + 20
_RECORD_HEADER = 16
_BEFORE_CORRELATION = (8, 4)
_BEFORE_CLIENT = 4 + 2 + 2 + 4 + 2 + len("app-")
_CLIENT = "app-00000"
_TIME = 1_700_000_000_000
_LZ4 = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The records of a message's packets in one row; where each packet begins in it and how much payload it has.

    `correlation` and `client` are the places of the correlation id and of five digits, 0 where there are none; `first`
    is the packet that acknowledges nothing.
    """

    row: npt.NDArray[np.uint8]
    packets: tuple[tuple[int, int], ...]
    payload: int
    side: int
    correlation: int = 0
    client: int = 0
    first: bool = False


def handshake() -> Iterator[Template]:
    """The three packets that open a connection."""
    for side, flags in ((ASK, _SYN), (ANSWER, _SYN | _ACK), (ASK, _ACK)):
        row = np.frombuffer(_packet(b"", flags), np.uint8)
        yield Template(row=row, packets=((0, 0),), payload=0, side=side, first=flags == _SYN)


def conversation() -> list[tuple[Template, Template]]:
    """How a client begins, then what it asks and is answered, in about the shares that are seen in clusters."""
    chance = random.Random(11)
    pairs = [_api_versions()]
    for number in range(8):
        topic = f"topic-{number}"
        pairs.append(_produced(topic, number, _batch(chance, 300 + 300 * number)))
        pairs.append(_fetched(topic, number, _batch(chance, 500 + 700 * number)))
        pairs.append(_fetched(topic, number, b""))
        if number % 4 == 0:
            pairs += [_heartbeat(), _committed(topic), _described(topic)]
    return pairs


def large(size: int) -> tuple[Template, Template]:
    """A Fetch whose answer has records of that size."""
    return _fetched("topic-0", 0, _batch(random.Random(3), size))


def _api_versions() -> tuple[Template, Template]:
    request = {"client_software_name": "made", "client_software_version": "1"}
    keys = [{"api_key": key, "min_version": 0, "max_version": 9} for key in range(20)]
    return _pair(_API_VERSIONS, 3, request, {"error_code": 0, "api_keys": keys})


def _produced(topic: str, partition: int, records: bytes) -> tuple[Template, Template]:
    sent = {"index": partition, "records": records}
    request = {"acks": -1, "timeout_ms": 1000, "topic_data": [{"name": topic, "partition_data": [sent]}]}
    answer = {"index": partition, "error_code": 0, "base_offset": 5}
    return _pair(_PRODUCE, 9, request, {"responses": [{"name": topic, "partition_responses": [answer]}]})


def _fetched(topic: str, partition: int, records: bytes) -> tuple[Template, Template]:
    wanted = {"partition": partition, "fetch_offset": 7, "partition_max_bytes": 1 << 20}
    request = {
        "max_wait_ms": 100,
        "min_bytes": 1,
        "max_bytes": 1 << 28,
        "session_id": 0,
        "session_epoch": -1,
        "topics": [{"topic": topic, "partitions": [wanted]}],
    }
    found = {"partition_index": partition, "error_code": 0, "high_watermark": 40, "records": records}
    return _pair(_FETCH, 12, request, {"error_code": 0, "responses": [{"topic": topic, "partitions": [found]}]})


def _heartbeat() -> tuple[Template, Template]:
    return _pair(_HEARTBEAT, 4, {"group_id": "readers", "generation_id": 3, "member_id": "m-1"}, {"error_code": 0})


def _committed(topic: str) -> tuple[Template, Template]:
    partition = {"partition_index": 0, "committed_offset": 9, "committed_metadata": ""}
    request = {"group_id": "readers", "topics": [{"name": topic, "partitions": [partition]}]}
    answer = {"topics": [{"name": topic, "partitions": [{"partition_index": 0, "error_code": 0}]}]}
    return _pair(_OFFSET_COMMIT, 8, request, answer)


def _described(topic: str) -> tuple[Template, Template]:
    brokers = [{"node_id": number, "host": f"10.0.0.{number}", "port": 9092} for number in (1, 2, 3)]
    partitions = [
        {"error_code": 0, "partition_index": number, "leader_id": 1 + number % 3, "replica_nodes": [1, 2, 3]}
        for number in range(8)
    ]
    topics = [{"error_code": 0, "name": topic, "partitions": partitions}]
    return _pair(_METADATA, 9, {"topics": [{"name": topic}]}, {"brokers": brokers, "topics": topics})


def _pair(key: int, version: int, request: dict[str, Any], answer: dict[str, Any]) -> tuple[Template, Template]:
    return (
        _template(ASK, wire.encode_request(key, version, 0, _CLIENT, request)),
        _template(ANSWER, wire.encode_response(key, version, 0, answer)),
    )


def _template(side: int, message: bytes) -> Template:
    pieces = [message[begin : begin + _SEGMENT] for begin in range(0, len(message), _SEGMENT)]
    rows, packets, place = [], [], 0
    for piece in pieces:
        rows.append(_packet(piece, _ACK | _PUSH))
        packets.append((place, len(piece)))
        place += len(rows[-1])
    payload = _RECORD_HEADER + _HEADERS
    return Template(
        row=np.frombuffer(b"".join(rows), np.uint8),
        packets=tuple(packets),
        payload=len(message),
        side=side,
        correlation=payload + _BEFORE_CORRELATION[side],
        client=payload + _BEFORE_CLIENT if side == ASK else 0,
    )


def _packet(payload: bytes, flags: int) -> bytes:
    """The record of a packet; what differs from one to the next is zero."""
    size = _HEADERS + len(payload)
    ip = struct.pack(">BBHHHBBH8x", 0x45, 0, size - 14, 0, 0x4000, 64, 6, 0)
    tcp = struct.pack(">HHIIBBHHH", 0, 0, 0, 0, 0x50, flags, 64_000, 0, 0)
    return struct.pack("<IIII", 0, 0, size, size) + bytes(12) + b"\x08\x00" + ip + tcp + payload


def _batch(chance: random.Random, size: int) -> bytes:
    """A record batch of ten records: nobody looks into compressed ones."""
    records = chance.randbytes(size)
    head = struct.pack(">bIhiqqqhii", 2, 0, _LZ4, 9, _TIME, _TIME + 5, -1, -1, -1, 10)
    return struct.pack(">qii", 0, len(head) + len(records) + 4, -1) + head + records
