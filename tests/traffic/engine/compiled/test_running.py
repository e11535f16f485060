"""A machine goes on where it stopped, byte by byte, with tags inside of tags."""

import uuid

from netdiag.kafka import protocol as wire
from tests.traffic.engine.compiled.messages import REQUEST, RESPONSE, Both, header

BOTH = Both()
LEADER = {"leader_id": 4, "leader_epoch": 9}


def test_tagged_fields_with_fields_inside() -> None:
    parts = [{"partition_index": number, "error_code": 6, "current_leader": LEADER} for number in range(3)]
    nodes = [{"node_id": 4, "host": "kafka", "port": 9092, "rack": None}]
    value = {"responses": [{"topic_id": uuid.UUID(int=7), "partitions": parts}], "node_endpoints": nodes}
    message = header(1, 16, RESPONSE, b"\x01\x09\x81\x01" + bytes(129)) + wire.encode(1, 16, RESPONSE, value)
    BOTH.check(message, [message[at : at + 1] for at in range(4, len(message))], 1, 16, RESPONSE)
    row = BOTH.store.partitions[BOTH.store.counts[1] - 1]
    assert (row["leader_id"], row["leader_epoch"]) == (4, 9)
    assert BOTH.store.endpoints[BOTH.store.counts[4] - 1]["port"] == 9092


def test_a_tag_that_is_longer_than_its_field() -> None:
    value = {"replica_state": {"replica_id": 5, "replica_epoch": 1}}
    body = bytearray(wire.encode(1, 15, REQUEST, value))
    place = body.index(b"\x00\x00\x00\x05")
    for size in range(20):
        body[place - 1] = size
        message = header(1, 15, REQUEST) + bytes(body)
        BOTH.check(message, [message[8:]], 1, 15, REQUEST)


def test_varints_of_any_length() -> None:
    for count in (b"\x80\x01", b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x1f", b"\x80\x80\x80\x80\x80\x01", b"\x80"):
        for at in (8, 13):
            message = bytearray(header(1, 15, REQUEST) + wire.encode(1, 15, REQUEST, {}))
            message[at + 6 : at + 7] = count
            BOTH.check(bytes(message), [bytes(message[8:])], 1, 15, REQUEST)
            BOTH.check(bytes(message), [bytes(message[8:17]), bytes(message[17:])], 1, 15, REQUEST)
