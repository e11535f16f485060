"""Conversations of clients with brokers: their messages, as packets and as capture files."""

import random
import struct
from collections.abc import Callable
from pathlib import Path

from kafka.record.memory_records import MemoryRecordsBuilder

from netdiag.kafka import protocol as wire
from tests.native.files import pcap_file
from tests.native.packets import MILLISECOND, Packet, TcpConnection, translated, udp_packet

PRODUCE, FETCH, METADATA = 0, 1, 3
ASK = wire.encode_request(METADATA, 12, 7, "app", {"topics": [{"name": "orders"}]})
TOLD = wire.encode_response(METADATA, 12, 7, {"brokers": [{"node_id": 1, "host": "kafka", "port": 9092}]})
# Milliseconds since 1970.
START = 1_700_000_000_000
EVERY = 50
DNS = bytes.fromhex("123401000001000000000000056b61666b610000010001")

TIME = 1_700_000_000_500
Written = tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]
KEYS: list[Written] = [
    (b"key", b"value" * 20, [("trace", b"7")]),
    (None, b"\xff\x00", []),
    (b"", None, [("a", b""), ("b", b"\xfe")]),
    ("schlüssel".encode(), b"wert\n" * 3000, []),
]
MARK = b"4f1c-Secret-9e"
SECRET: list[Written] = [(b"k" + MARK, b"v" + MARK, [("h" + MARK.decode(), b"w" + MARK)])] * 3


def batch(records: list[Written] = KEYS, *, codec: int = 0, magic: int = 2, base: int = 0, **options: int) -> bytes:
    """A record batch that kafka-python writes; each record is a millisecond later than the one before."""
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


def metadata_request(correlation_id: int, topics: int = 1, client: str = "app") -> bytes:
    """A Metadata request for so many topics."""
    named = [{"name": f"topic-{number:02}"} for number in range(topics)]
    return wire.encode_request(METADATA, 1, correlation_id, client, {"topics": named})


def metadata_response(correlation_id: int, brokers: int = 1) -> bytes:
    """Its response with so many brokers and no topic."""
    told = [{"node_id": number, "host": f"kafka-{number:02}", "port": 9092} for number in range(brokers)]
    return wire.encode_response(METADATA, 1, correlation_id, {"brokers": told})


def produce(data: bytes, topic: str = "orders", correlation_id: int = 3, partition: int = 4) -> bytes:
    """A Produce request with these records."""
    partitions = [{"index": partition, "records": data}]
    body = {"acks": 1, "timeout_ms": 1000, "topic_data": [{"name": topic, "partition_data": partitions}]}
    return wire.encode_request(PRODUCE, 9, correlation_id, "app", body)


def produced_and_fetched(data: bytes, size: int = 60_000) -> TcpConnection:
    """A connection that produces these records and fetches them, in packets of at most so many bytes."""
    partitions = [{"partition": 4, "fetch_offset": 100, "partition_max_bytes": 1 << 20}]
    fetch = wire.encode_request(
        FETCH, 12, 5, "app", {"max_wait_ms": 500, "topics": [{"topic": "orders", "partitions": partitions}]}
    )
    told = [{"partition_index": 4, "high_watermark": 900, "records": data}]
    answer = wire.encode_response(FETCH, 12, 5, {"responses": [{"topic": "orders", "partitions": told}]})
    made, sent = TcpConnection().open(), produce(data)
    for at in range(0, len(sent), size):
        made.ask(sent[at : at + size])
    made.answer(wire.encode_response(PRODUCE, 9, 3, {})).ask(fetch)
    for at in range(0, len(answer), size):
        made.answer(answer[at : at + size])
    return made.close()


def conversation(number: int, *, asks: int = 3, port: int = 9092) -> list[Packet]:
    """A client of its own that asks a few times."""
    # What begins at the same sequence numbers is the same connection seen behind address translation.
    made = TcpConnection(
        f"10.0.0.{number + 1}:{40000 + number}",
        f"10.0.1.1:{port}",
        start=START + number * EVERY,
        sequences=(1000 * number + port, 70_000_000 * number + port),
    ).open()
    for ask in range(asks):
        request = {"topics": [{"name": f"topic-{number % 3}"}]}
        made.ask(wire.encode_request(METADATA, 12, ask, f"app-{number % 2}", request))
        broker = {"node_id": 1, "host": "kafka", "port": port}
        made.answer(wire.encode_response(METADATA, 12, ask, {"brokers": [broker]}))
    return made.close().packets


def capture(path: Path, conversations: int = 12, **more: int) -> str:
    """A file with so many of them."""
    packets = [packet for number in range(conversations) for packet in conversation(number, **more)]
    path.write_bytes(pcap_file(sorted(packets, key=lambda packet: packet.time)))
    return str(path)


def mixed() -> list[Packet]:
    """Conversations side by side, seen twice, with holes, swapped packets, a large message and an open question."""
    chance = random.Random(7)
    packets = [packet for number in range(6) for packet in conversation(number, asks=4)]
    packets += translated(conversation(2, asks=4), "10.0.1.1:9092", "172.18.0.2:9092")
    packets += large()
    packets.append(udp_packet("10.0.0.9:5000", "10.0.0.10:53", DNS, time=(START + 1) * MILLISECOND))
    packets.sort(key=lambda packet: packet.time)
    for place in chance.sample(range(len(packets) - 1), 6):
        packets[place], packets[place + 1] = packets[place + 1], packets[place]
    for place in sorted(chance.sample(range(len(packets)), 5), reverse=True):
        del packets[place]
    return packets


def large(*, lost: int | None = None) -> list[Packet]:
    """A Produce request of 400 kB, which is read while it passes by, and its answer."""
    made = TcpConnection("10.0.9.1:41000", "10.0.9.2:9092", start=START).open()
    head = struct.pack(">qiibIhiqqqhii", 10, 49 + 1000, 0, 2, 0, 4, 2, 1000, 3000, 7, 1, 0, 3)
    partitions = [{"index": index, "records": (head + bytes(1000)) * 40} for index in range(10)]
    request = {"acks": 1, "timeout_ms": 1000, "topic_data": [{"name": "big", "partition_data": partitions}]}
    data = wire.encode_request(PRODUCE, 9, 1, "producer", request)
    for number, begin in enumerate(range(0, len(data), 1448)):
        made.ask(data[begin : begin + 1448])
        if number == lost:
            del made.packets[-1]
    answer = {"responses": [{"name": "big", "partition_responses": [{"index": 0, "error_code": 0}]}]}
    return made.answer(wire.encode_response(PRODUCE, 9, 1, answer)).packets
