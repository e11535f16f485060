"""Rows of partitions, batches, group events, endpoints and leaders, from messages with known content."""

import struct
import uuid
from typing import Any

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine import details
from netdiag.traffic.engine.details import Exchange
from netdiag.traffic.engine.topic_ids import TopicIds
from tests.traffic.engine.bodies.messages import Value, answer, asked, context

BATCH = struct.pack(">qiibIhiqqqhii", 0, 49 + 10, 0, 2, 0, 0x10 | 4, 2, 1000, 3000, 7, 1, 0, 3) + bytes(10)


def _exchange(api_key: int, version: int, request: Value, response: Value | None) -> Exchange:
    question = asked(api_key, version, request)
    reply = None if response is None else answer(api_key, version, response)
    where, end = context(), question.message.end_time
    told = None if reply is None else reply.message.end_time
    said = None if reply is None else reply.facts
    return Exchange(end, told, 5, where.client, where.broker, 3, api_key, "app", question.facts, said)


def _shown(row: Any) -> dict[str, Any]:
    """The columns of a row that are not null, without those that every row of the exchange has."""
    same = ("time", "response_time", "connection", "correlation_id", "api_key", "client_id", "client", "broker")
    return {name: value for name, value in row._asdict().items() if value is not None and name not in same}


PRODUCE: Value = {"acks": -1, "topic_data": [{"name": "t", "partition_data": [{"index": 1, "records": BATCH}]}]}


def test_produce() -> None:
    told = {"name": "t", "partition_responses": [{"index": 1, "base_offset": 40, "log_start_offset": -1}]}
    exchange = _exchange(0, 9, PRODUCE, {"responses": [told]})
    (row,) = details.partition_rows(exchange, TopicIds())
    assert (row.time, row.connection, row.correlation_id, row.api_key, row.client_id) == (1_000_000, 5, 3, 0, "app")
    assert _shown(row) == {
        "topic": "t",
        "partition": 1,
        "error_code": 0,
        "records": 3,
        "record_bytes": len(BATCH),
        "response_offset": 40,
        "last_offset": 42,
        "max_timestamp": 3000,
    }
    (batch,) = details.batch_rows(exchange, TopicIds())
    assert _shown(batch) == {
        "topic": "t",
        "partition": 1,
        "magic": 2,
        "base_offset": 0,
        "last_offset_delta": 2,
        "records": 3,
        "bytes": len(BATCH),
        "codec": "zstd",
        "producer_id": 7,
        "producer_epoch": 1,
        "base_sequence": 0,
        "transactional": True,
        "control": False,
        "first_timestamp": 1000,
        "max_timestamp": 3000,
        "log_append_time": False,
        "complete": True,
    }


def test_produce_without_an_answer_or_in_error() -> None:
    (row,) = details.partition_rows(_exchange(0, 9, PRODUCE, None), TopicIds())
    assert (row.records, row.response_offset, row.last_offset, row.error_code) == (3, None, None, None)
    told = {"name": "t", "partition_responses": [{"index": 1, "error_code": 6, "base_offset": -1}]}
    (row,) = details.partition_rows(_exchange(0, 9, PRODUCE, {"responses": [told]}), TopicIds())
    assert (row.records, row.response_offset, row.last_offset, row.error_code) == (3, None, None, 6)


def test_fetch_joins_what_both_messages_name() -> None:
    wanted = [{"partition": 0, "fetch_offset": 5, "current_leader_epoch": -1}, {"partition": 1, "fetch_offset": 6}]
    moved = struct.pack(">q", 5) + BATCH[8:]
    told = [
        {"partition_index": 0, "high_watermark": 9, "last_stable_offset": -1, "records": moved},
        {"partition_index": 2, "error_code": 3, "high_watermark": -1, "records": None},
    ]
    exchange = _exchange(
        1,
        12,
        {"replica_id": -1, "session_id": 4, "session_epoch": 2, "topics": [{"topic": "t", "partitions": wanted}]},
        {"session_id": 4, "responses": [{"topic": "t", "partitions": told}]},
    )
    rows = details.partition_rows(exchange, TopicIds(), {("t", 2): 77})
    common = {"topic": "t", "replica_id": -1, "session_id": 4}
    fetched = {"records": 3, "record_bytes": len(BATCH), "last_offset": 7, "max_timestamp": 3000}
    assert [_shown(row) for row in rows] == [
        common | fetched | {"partition": 0, "error_code": 0, "request_offset": 5, "high_watermark": 9},
        common | {"partition": 2, "error_code": 3, "request_offset": 77, "records": 0, "record_bytes": 0},
        common | {"partition": 1, "request_offset": 6},
    ]


def test_offset_fetch_of_several_groups() -> None:
    groups = [{"group_id": name, "topics": [{"name": "t", "partition_indexes": [0]}]} for name in "ab"]
    told = [
        {"group_id": name, "topics": [{"name": "t", "partitions": [{"partition_index": 0, "committed_offset": at}]}]}
        for name, at in (("b", 9), ("a", -1))
    ]
    rows = details.partition_rows(_exchange(9, 8, {"groups": groups}, {"groups": told}), TopicIds())
    assert [(row.group, row.topic, row.partition, row.response_offset) for row in rows] == [
        ("b", "t", 0, 9),
        ("a", "t", 0, -1),
    ]


def test_join_group() -> None:
    owned = {"topics": ["t"], "owned_partitions": [{"topic": "t", "partitions": [3]}]}
    metadata = b"\x00\x01" + wire.encode_data("ConsumerProtocolSubscription", 1, owned)
    request = {
        "group_id": "g",
        "session_timeout_ms": 45000,
        "rebalance_timeout_ms": 300000,
        "member_id": "",
        "group_instance_id": "i",
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": metadata}, {"name": "sticky", "metadata": metadata}],
        "reason": "because",
    }
    told = {
        "generation_id": 4,
        "protocol_type": "consumer",
        "protocol_name": "range",
        "leader": "m1",
        "member_id": "m1",
        "members": [{"member_id": "m1", "metadata": metadata}, {"member_id": "m2", "metadata": b""}],
    }
    row = details.group_event_row(_exchange(11, 9, request, told), TopicIds())
    assert (row.time, row.response_time, row.client, row.broker) == (
        1_000_000,
        5_000_000,
        context().client,
        context().broker,
    )
    assert _shown(row) == {
        "group": "g",
        "member_id": "m1",
        "instance_id": "i",
        "generation": 4,
        "protocol_type": "consumer",
        "protocol": "range",
        "leader": "m1",
        "members": ("m1", "m2"),
        "subscription": ("t",),
        "owned": ("t-3",),
        "session_timeout_ms": 45000,
        "rebalance_timeout_ms": 300000,
        "reason": "because",
        "error_code": 0,
        "wait_ms": 4.0,
    }


def test_sync_heartbeat_and_leave() -> None:
    assigned = b"\x00\x00" + wire.encode_data(
        "ConsumerProtocolAssignment", 0, {"assigned_partitions": [{"topic": "t", "partitions": [0, 2]}]}
    )
    member = {"group_id": "g", "member_id": "m", "generation_id": 4}
    row = details.group_event_row(_exchange(14, 3, member, {"assignment": assigned}), TopicIds())
    assert (row.assignment, row.member_id, row.generation) == (("t-0", "t-2"), "m", 4)
    row = details.group_event_row(_exchange(12, 3, member, {"error_code": 27}), TopicIds())
    assert (row.error_code, row.member_id, row.generation, row.assignment) == (27, "m", 4, None)
    row = details.group_event_row(_exchange(12, 3, member, None), TopicIds())
    assert (row.error_code, row.wait_ms, row.response_time) == (None, None, None)
    row = details.group_event_row(_exchange(13, 0, {"group_id": "g", "member_id": "m"}, {}), TopicIds())
    assert row.members == ("m",)
    leaving = {"group_id": "g", "members": [{"member_id": "m", "group_instance_id": "i", "reason": "closed"}]}
    row = details.group_event_row(_exchange(13, 5, leaving, {}), TopicIds())
    assert (row.members, row.instance_id, row.reason) == (("m",), "i", "closed")


def test_consumer_group_heartbeat() -> None:
    ids, topic = TopicIds(), uuid.UUID(int=9)
    ids.learn([(topic.bytes, "t")])
    owned = [{"topic_id": topic, "partitions": [1]}]
    request = {
        "group_id": "g",
        "member_id": "m",
        "member_epoch": 3,
        "subscribed_topic_names": ["t"],
        "topic_partitions": owned,
    }
    told = {
        "member_id": "m",
        "member_epoch": 4,
        "assignment": {"topic_partitions": [{"topic_id": topic, "partitions": [1, 2]}]},
    }
    row = details.group_event_row(_exchange(68, 0, request, told), ids)
    assert (row.generation, row.subscription, row.owned, row.assignment) == (4, ("t",), ("t-1",), ("t-1", "t-2"))
    row = details.group_event_row(_exchange(68, 0, request, {"error_code": 110, "member_epoch": 0}), ids)
    assert (row.generation, row.error_code) == (3, 110)


def test_endpoints_of_metadata_and_of_coordinators() -> None:
    brokers = [{"node_id": 1, "host": "broker-1", "port": 29092, "rack": "r"}]
    told = {"brokers": brokers, "cluster_id": "c", "controller_id": -1}
    (row,) = details.endpoint_rows(_exchange(3, 12, {}, told))
    assert row.time == 5_000_000
    assert _shown(row) == {"node_id": 1, "host": "broker-1", "port": 29092, "rack": "r", "cluster_id": "c"}
    found = {"node_id": 2, "host": "b2", "port": 9092}
    (row,) = details.endpoint_rows(_exchange(10, 3, {"key": "g"}, found))
    assert (row.node_id, row.host, row.coordinator_key) == (2, "b2", "g")
    nobody = {"key": "x", "node_id": -1, "host": "", "port": -1, "error_code": 15}
    several = {"coordinators": [{"key": "g", **found}, nobody]}
    (row,) = details.endpoint_rows(_exchange(10, 4, {"coordinator_keys": ["g", "x"]}, several))
    assert (row.node_id, row.host, row.coordinator_key) == (2, "b2", "g")
    moved = {"node_endpoints": [{"node_id": 7, "host": "b7", "port": 1}]}
    (row,) = details.endpoint_rows(_exchange(0, 10, PRODUCE, moved))
    assert (row.api_key, row.node_id, row.host) == (0, 7, "b7")


def test_leaders_and_topics_in_error() -> None:
    topic = uuid.UUID(int=9)
    part = {"partition_index": 0, "leader_id": 1, "leader_epoch": 5, "replica_nodes": [1, 2, 3], "isr_nodes": [1]}
    told = {"topics": [{"name": "t", "topic_id": topic, "partitions": [part]}, {"name": "u", "error_code": 3}]}
    rows = details.leader_rows(_exchange(3, 12, {}, told), TopicIds())
    assert [_shown(row) for row in rows] == [
        {
            "topic": "t",
            "topic_id": "AAAAAAAAAAAAAAAAAAAACQ",
            "partition": 0,
            "leader_id": 1,
            "leader_epoch": 5,
            "replicas": 3,
            "in_sync": 1,
            "error_code": 0,
        },
        {"topic": "u", "error_code": 3},
    ]
