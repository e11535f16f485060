"""Captures of exchanges by chance: few values, so that many rows are alike, errors, and batches that are sent again."""

import random
import struct
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from netdiag.kafka import protocol as wire
from tests.native.files import pcap_file
from tests.native.packets import Packet, TcpConnection

PRODUCE, FETCH, LIST_OFFSETS, METADATA, COMMIT, OFFSET_FETCH = 0, 1, 2, 3, 8, 9
COORDINATOR, JOIN, HEARTBEAT, VERSIONS, PRODUCER_ID, END = 10, 11, 12, 18, 22, 26
# Milliseconds since 1970.
START = 1_700_000_000_000
ORDERS = uuid.UUID(bytes=bytes(range(16)))
UNNAMED = uuid.UUID(bytes=bytes(range(16, 32)))
NO_ID = uuid.UUID(bytes=bytes(16))
BROKERS = ("10.0.9.1:9092", "10.0.9.2:9092")
Said = tuple[int, int, dict[str, Any], dict[str, Any] | None]


def capture_by_chance(
    path: Path, seed: int, connections: int = 12, exchanges: int = 40, *, namesakes: bool = False
) -> Path:
    """A file with so many connections, one of which is relayed, and so many exchanges on each.

    `namesakes`: one name has two topics, as of one that was deleted and made again, and fetches ask for both.
    """
    chance = random.Random(seed)
    packets: list[Packet] = []
    for number in range(connections):
        client = f"10.0.{number % 3}.7:{40000 + number}" if number % 4 else f"[fd00::{number + 1}]:{40000 + number}"
        broker = BROKERS[number % 2] if number % 4 else "[fd00::99]:9092"
        said: list[tuple[int, bytes]] = []
        for key, version, request, response in spoken(chance, number, exchanges, namesakes):
            correlation, name = len(said), chance.choice(["one", "one", "two", None])
            said.append((0, wire.encode_request(key, version, correlation, name, request)))
            if response is not None:
                said.append((1, wire.encode_response(key, version, correlation, response)))
        packets += connection(number, client, broker, said)
        if number == 1:
            packets += connection(connections, "172.18.0.1:50000", "172.18.0.2:9092", said, start=number * 7 + 2)
    path.write_bytes(pcap_file(sorted(packets, key=lambda packet: packet.time)))
    return path


def connection(
    number: int, client: str, broker: str, said: list[tuple[int, bytes]], start: int | None = None
) -> list[Packet]:
    """The packets of a connection on which clients (0) and brokers (1) say this."""
    begin = START + (number * 7 if start is None else start)
    made = TcpConnection(client, broker, start=begin, sequences=(1000 * number + 1, 70_000_000 * number + 1)).open()
    for side, message in said:
        made.send(side, message)
    return made.close().packets


def spoken(chance: random.Random, number: int, count: int, namesakes: bool) -> Iterator[Said]:
    """What is said on a connection."""
    sequences = dict.fromkeys(range(3), 0)
    made: tuple[Callable[[], Said], ...] = (
        lambda: produced(chance, number, sequences),
        lambda: produced(chance, number, sequences),
        lambda: fetched(chance, namesakes),
        lambda: fetched(chance, namesakes),
        lambda: told(chance, namesakes),
        lambda: committed(chance),
        lambda: asked(chance),
    )
    for _ in range(count):
        key, version, request, response = chance.choice(made)()
        yield key, version, request, None if chance.random() < 0.05 else response


def produced(chance: random.Random, number: int, sequences: dict[int, int]) -> Said:
    """Batches of an idempotent producer, which come again now and then, or of one without an id."""
    producer = chance.choice([-1, 7 + number % 2])
    partitions, answers = [], []
    for index in chance.sample(range(3), chance.randrange(1, 4)):
        again = chance.random() < 0.2
        sequence = max(0, sequences[index] - 3) if again else sequences[index]
        sequences[index] = max(sequences[index], sequence + 3)
        partitions.append({"index": index, "records": batch(chance, producer, sequence)})
        answers.append({"index": index, "error_code": error(chance), "base_offset": sequence, "log_append_time_ms": -1})
    topic = chance.choice(["orders", "users"])
    request = {
        "transactional_id": chance.choice([None, "tx"]),
        "acks": chance.choice([-1, 1]),
        "timeout_ms": 1000,
        "topic_data": [{"name": topic, "partition_data": partitions}],
    }
    answer = {"responses": [{"name": topic, "partition_responses": answers}], "throttle_time_ms": chance.choice([0, 5])}
    return PRODUCE, 9, request, answer


def fetched(chance: random.Random, namesakes: bool) -> Said:
    """A fetch of a client or of a broker, by topic ids or names, with records or without."""
    version = chance.choice([12, 13])
    waits, base = chance.choice([0, 500]), 3 * chance.randrange(20)
    topic = {"topic": "orders"} if version == 12 else {"topic_id": chance.choice([ORDERS, UNNAMED])}
    topics = [{"topic_id": ORDERS}, {"topic_id": UNNAMED}] if version == 13 and namesakes else [topic]
    records = [batch(chance, -1, -1, base=base) for _ in range(chance.randrange(3))]
    asked = {"partition": chance.randrange(3), "fetch_offset": base, "partition_max_bytes": 1000}
    said = {
        "partition_index": asked["partition"],
        "error_code": error(chance),
        "high_watermark": base + chance.randrange(9),
        "last_stable_offset": base,
        "records": b"".join(records),
    }
    request = {
        "replica_id": chance.choice([-1, -1, 2]),
        "max_wait_ms": waits,
        "min_bytes": 1,
        "topics": [{**topic, "partitions": [asked]} for topic in topics],
    }
    return FETCH, version, request, {"responses": [{**topic, "partitions": [said]} for topic in topics]}


def told(chance: random.Random, namesakes: bool) -> Said:
    """Metadata: brokers, leaders, the names of topics."""
    brokers = [{"node_id": number, "host": f"kafka-{number}", "port": 9092} for number in (1, 2)]
    partitions = [
        {"partition_index": index, "leader_id": chance.choice([1, 2]), "leader_epoch": chance.randrange(3)}
        | {"error_code": error(chance), "replica_nodes": [1, 2], "isr_nodes": [1]}
        for index in range(2)
    ]
    ids = (ORDERS, UNNAMED) if namesakes else (ORDERS,)
    topics = [
        {"name": "orders", "topic_id": each, "error_code": error(chance), "partitions": partitions} for each in ids
    ]
    response = {"brokers": brokers, "cluster_id": "c", "controller_id": 1, "topics": topics}
    return METADATA, 12, {"topics": [{"topic_id": NO_ID, "name": "orders"}]}, response


def committed(chance: random.Random) -> Said:
    """What groups commit and ask for."""
    group, partition, offset = chance.choice(["a", "b"]), chance.randrange(3), chance.randrange(60)
    if chance.random() < 0.7:
        place = {"partition_index": partition, "committed_offset": offset, "committed_leader_epoch": -1}
        request = {"group_id": group, "topics": [{"name": "orders", "partitions": [place]}]}
        said = {"partition_index": partition, "error_code": error(chance)}
        return COMMIT, 7, request, {"topics": [{"name": "orders", "partitions": [said]}]}
    request = {"group_id": group, "topics": [{"name": "orders", "partition_indexes": [partition]}]}
    said = {"partition_index": partition, "committed_offset": offset, "error_code": 0}
    return OFFSET_FETCH, 5, request, {"topics": [{"name": "orders", "partitions": [said]}], "error_code": 0}


def asked(chance: random.Random) -> Said:
    """Anything else."""
    versions = (VERSIONS, 3, {"client_software_name": "x", "client_software_version": "1"}, {"error_code": 0})
    coordinator = {"error_code": error(chance), "node_id": 1, "host": "kafka-1", "port": 9092}
    latest = {"partition_index": 0, "timestamp": -1, "current_leader_epoch": -1}
    end = {"partition_index": 0, "error_code": 0, "timestamp": -1, "offset": chance.randrange(90)}
    every: tuple[Said, ...] = (
        versions,
        (COORDINATOR, 3, {"key": "a", "key_type": 0}, coordinator),
        (HEARTBEAT, 3, {"group_id": "a", "generation_id": 1, "member_id": "m"}, {"error_code": error(chance)}),
        (JOIN, 5, {"group_id": "b", "protocol_type": "consumer", "member_id": ""}, {"error_code": 79}),
        (
            *(LIST_OFFSETS, 5, {"replica_id": -1, "topics": [{"name": "users", "partitions": [latest]}]}),
            {"topics": [{"name": "users", "partitions": [end]}]},
        ),
        (PRODUCER_ID, 3, {"transactional_id": "tx", "transaction_timeout_ms": 1}, {"error_code": 0, "producer_id": 7}),
        (
            *(END, 3, {"transactional_id": "tx", "producer_id": 7, "producer_epoch": 0, "committed": True}),
            {"error_code": error(chance)},
        ),
    )
    return chance.choice(every)


def error(chance: random.Random) -> int:
    """Mostly none."""
    return chance.choice([0, 0, 0, 0, 3, 10])


def batch(chance: random.Random, producer: int, sequence: int, base: int = 0) -> bytes:
    """A batch of three records, compressed: nobody looks into them."""
    records = chance.randbytes(chance.choice([40, 41, 300]))
    attributes = chance.choice([0, 4, 0x20 if sequence < 0 else 4])
    first = START + chance.randrange(5)
    head = struct.pack(">bIhiqqqhii", 2, 0, attributes, 2, first, first + 9, producer, 0, sequence, 3)
    return struct.pack(">qii", base, len(head) + len(records) + 4, -1) + head + records
