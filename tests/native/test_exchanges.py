"""Requests and responses become rows: which belong together, what both tell, and what is known from earlier ones."""

import struct
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.native import AddressNames
from tests.native.conversations import ASK, TOLD, metadata_request
from tests.native.packets import TcpConnection
from tests.native.reading import Rows, rows_of_packets
from tests.native.test_delivery import SIZE

PRODUCE_KEY, FETCH, METADATA, OFFSET_FETCH, COORDINATOR = 0, 1, 3, 9, 10
JOIN, HEARTBEAT, LEAVE, SYNC, GROUP_HEARTBEAT = 11, 12, 13, 14, 68
Value = Mapping[str, Any]
Exchange = tuple[int, int, Value, Value | None]
BATCH = struct.pack(">qiibIhiqqqhii", 0, 49 + 10, 0, 2, 0, 0x10 | 4, 2, 1000, 3000, 7, 1, 0, 3) + bytes(10)
PRODUCE: Value = {"acks": -1, "topic_data": [{"name": "t", "partition_data": [{"index": 1, "records": BATCH}]}]}
TOPIC = uuid.UUID(int=9)
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAACQ"
# The columns that every row of an exchange has.
SAME = ("time", "response_time", "connection", "correlation_id", "api_key", "client_id", "client", "broker")


def said(*exchanges: Exchange, broker: str = "10.0.0.2:9092") -> Rows:
    """The rows of requests and responses, one after the other, each in a packet of its own."""
    talk = TcpConnection(broker=broker).open()
    for number, (api_key, version, request, response) in enumerate(exchanges):
        talk.ask(wire.encode_request(api_key, version, number, "app", request))
        if response is not None:
            talk.answer(wire.encode_response(api_key, version, number, response))
    return rows_of_packets(talk.close().packets)


def shown(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """The columns of each row that are not null, without those that every row of the exchange has."""
    return [
        {name: value for name, value in row._asdict().items() if value is not None and name not in SAME} for row in rows
    ]


def outcomes(talk: TcpConnection) -> list[tuple[int, str]]:
    """Correlation id and outcome of each exchange."""
    return [(row.correlation_id, row.outcome) for row in rows_of_packets(talk.packets)["exchanges"]]


def heartbeat(number: int) -> bytes:
    """A request of a member of a group."""
    return wire.encode_request(HEARTBEAT, 3, number, "app", {"group_id": "g", "generation_id": 1, "member_id": "m"})


def alive(number: int) -> bytes:
    """Its response."""
    return wire.encode_response(HEARTBEAT, 3, number, {})


def unanswered(number: int) -> bytes:
    """A request that no response is asked for."""
    return wire.encode_request(PRODUCE_KEY, 7, number, "app", {"acks": 0})


def test_a_request_and_its_response_are_one_exchange() -> None:
    (row,) = rows_of_packets(TcpConnection().open().ask(ASK).answer(TOLD).packets)["exchanges"]
    assert (row.client, row.broker) == ("10.0.0.1:40000", "10.0.0.2:9092")
    assert (row.api_key, row.api_name, row.api_version, row.correlation_id) == (3, "Metadata", 12, 7)
    assert (row.client_id, row.topics) == ("app", ("orders",))
    assert (row.request_bytes, row.response_bytes) == (len(ASK) - SIZE, len(TOLD) - SIZE)
    assert (row.latency_ms, row.time, row.request_packet, row.response_packet) == (1.0, 3_000_000, 4, 5)
    assert (row.outcome, row.decoded, row.error_code, row.file) == ("answered", "full", 0, "a.pcap")


def test_times_run_from_the_last_byte_of_the_request() -> None:
    talk = TcpConnection().open().ask(ASK[:10]).ask(ASK[10:])
    talk.time += 3_000_000
    (row,) = rows_of_packets(talk.answer(TOLD[:5]).answer(TOLD[5:]).packets)["exchanges"]
    assert (row.latency_ms, row.service_ms) == (5.0, 4.0)
    assert (row.time, row.response_time, row.request_packet, row.response_packet) == (4_000_000, 9_000_000, 5, 7)


def test_by_number_in_order() -> None:
    talk = TcpConnection().open().ask(heartbeat(1)).ask(heartbeat(2)).answer(alive(1)).answer(alive(2))
    assert outcomes(talk) == [(1, "answered"), (2, "answered")]


def test_the_same_number_again_is_another_pair() -> None:
    talk = TcpConnection().open().ask(heartbeat(1)).ask(heartbeat(1)).answer(alive(1)).answer(alive(1))
    assert outcomes(talk) == [(1, "answered"), (1, "answered")]


def test_a_response_closes_what_was_asked_before() -> None:
    talk = TcpConnection().open().ask(heartbeat(1)).ask(unanswered(2)).ask(heartbeat(3)).answer(alive(3))
    assert outcomes(talk) == [(1, "unanswered"), (2, "no-response"), (3, "answered")]


def test_a_broker_that_answers_acks_0_all_the_same() -> None:
    assert outcomes(TcpConnection().open().ask(unanswered(1)).answer(alive(1))) == [(1, "answered")]


def test_the_end_of_the_capture() -> None:
    talk = TcpConnection().open().ask(heartbeat(8)).answer(alive(8)).ask(heartbeat(1)).ask(unanswered(2))
    assert outcomes(talk) == [(8, "answered"), (1, "unanswered"), (2, "no-response")]


def test_a_response_alone() -> None:
    talk = TcpConnection()
    for number in range(1, 5):
        talk.lose(0, heartbeat(number)).answer(alive(number))
    rows = rows_of_packets(talk.packets)["exchanges"]
    assert {(row.api_key, row.request_bytes, row.response_bytes, row.outcome) for row in rows} == {
        (None, None, len(alive(1)) - SIZE, "no-request")
    }


def test_the_digest_tells_conversations_apart() -> None:
    same, other = (TcpConnection(client=f"10.0.0.1:{port}").open().ask(ASK).answer(TOLD) for port in (1, 2))
    more = TcpConnection(client="10.0.0.1:3").open().ask(ASK).answer(TOLD).ask(heartbeat(2))
    digests = [rows_of_packets(talk.packets)["connections"][0].digest for talk in (same, other, more)]
    assert digests[0] == digests[1] != digests[2]


def test_what_is_learnt_of_the_client() -> None:
    software = {"client_software_name": "librdkafka", "client_software_version": "2.3.0"}
    (row,) = said((18, 3, software, {}))["connections"]
    assert (row.client_id, row.client_software) == ("app", "librdkafka 2.3.0")


def test_how_far_it_was_decoded() -> None:
    whole = wire.encode_request(METADATA, 12, 1, "app", {})
    lying = whole[:12] + b"\x70" + whole[13:]
    unknown = whole[:4] + b"\x03\xe8" + whole[6:]
    for data, expected in ((whole, "full"), (lying, "failed"), (unknown, "header")):
        talk = TcpConnection().open().ask(ASK).answer(TOLD).ask(data)
        assert [row.decoded for row in rows_of_packets(talk.packets)["exchanges"]] == ["full", expected]
    cut = TcpConnection(snap=54 + 15).open().ask(metadata_request(1, topics=9))
    assert [row.decoded for row in rows_of_packets(cut.packets)["exchanges"]] == ["truncated"]


def test_api_versions_with_error_35_has_the_body_of_version_0() -> None:
    told = wire.encode_response(18, 0, 1, {"error_code": 35, "api_keys": [{"api_key": 18, "max_version": 4}]})
    talk = TcpConnection().open().ask(wire.encode_request(18, 4, 1, "app", {})).answer(told)
    assert [(row.decoded, row.error_code) for row in rows_of_packets(talk.packets)["exchanges"]] == [("full", 35)]


def test_an_end_of_a_transaction() -> None:
    (row,) = said((26, 3, {"transactional_id": "t", "committed": True}, {}))["exchanges"]
    assert (row.transactional_id, row.committed) == ("t", True)


@pytest.mark.parametrize(
    ("version", "more", "expected"), [(0, {}, 9000), (4, {"rebalance_timeout_ms": 60_000}, 60_000)]
)
def test_how_long_a_join_may_wait(version: int, more: Value, expected: int) -> None:
    (row,) = said((JOIN, version, {"group_id": "g", "session_timeout_ms": 9000, **more}, {}))["exchanges"]
    assert row.wait_ms == expected


def test_produce() -> None:
    told = {"name": "t", "partition_responses": [{"index": 1, "base_offset": 40, "log_start_offset": -1}]}
    rows = said((PRODUCE_KEY, 9, PRODUCE, {"responses": [told]}))
    (row,) = rows["partitions"]
    assert (row.time, row.correlation_id, row.api_key, row.client_id) == (3_000_000, 0, 0, "app")
    assert shown(rows["partitions"]) == [
        {
            "topic": "t",
            "partition": 1,
            "error_code": 0,
            "records": 3,
            "record_bytes": len(BATCH),
            "response_offset": 40,
            "last_offset": 42,
            "max_timestamp": 3000,
        }
    ]
    assert shown(rows["batches"]) == [
        {
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
    ]


def test_produce_without_an_answer_or_in_error() -> None:
    (row,) = said((PRODUCE_KEY, 9, PRODUCE, None))["partitions"]
    assert (row.records, row.response_offset, row.last_offset, row.error_code) == (3, None, None, None)
    told = {"name": "t", "partition_responses": [{"index": 1, "error_code": 6, "base_offset": -1}]}
    (row,) = said((PRODUCE_KEY, 9, PRODUCE, {"responses": [told]}))["partitions"]
    assert (row.error_code, row.last_offset) == (6, None)


def test_fetch_joins_what_both_messages_name() -> None:
    wanted = [{"partition": 0, "fetch_offset": 5}, {"partition": 1, "fetch_offset": 6}]
    told = [
        {"partition_index": 0, "high_watermark": 9, "records": struct.pack(">q", 5) + BATCH[8:]},
        {"partition_index": 2, "error_code": 3, "records": b""},
    ]
    rows = said(
        (
            FETCH,
            12,
            {"topics": [{"topic": "t", "partitions": wanted}]},
            {"session_id": 4, "responses": [{"topic": "t", "partitions": told}]},
        ),
    )
    kept = ("partition", "error_code", "request_offset", "high_watermark", "records", "record_bytes", "last_offset")
    assert [tuple(getattr(row, name) for name in kept) for row in rows["partitions"]] == [
        (0, 0, 5, 9, 3, len(BATCH), 7),
        (2, 3, None, 0, 0, 0, None),
        (1, None, 6, None, None, None, None),
    ]


def test_offset_fetch_of_several_groups() -> None:
    groups = [{"group_id": name, "topics": [{"name": "t", "partition_indexes": [0]}]} for name in "ab"]
    told = [
        {"group_id": name, "topics": [{"name": "t", "partitions": [{"partition_index": 0, "committed_offset": at}]}]}
        for name, at in (("b", 9), ("a", -1))
    ]
    rows = said((OFFSET_FETCH, 8, {"groups": groups}, {"groups": told}))["partitions"]
    assert [(row.group, row.topic, row.partition, row.response_offset) for row in rows] == [
        ("b", "t", 0, 9),
        ("a", "t", 0, -1),
    ]


def test_join_group() -> None:
    owned = {"topics": ["t"], "owned_partitions": [{"topic": "t", "partitions": [3]}]}
    metadata = b"\x00\x01" + wire.encode_data("ConsumerProtocolSubscription", 1, owned)
    request = {
        "group_id": "g",
        "session_timeout_ms": 45_000,
        "rebalance_timeout_ms": 300_000,
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
    rows = said((JOIN, 9, request, told))["group_events"]
    assert [(row.time, row.response_time, row.client, row.broker) for row in rows] == [
        (3_000_000, 4_000_000, "10.0.0.1:40000", "10.0.0.2:9092")
    ]
    assert shown(rows) == [
        {
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
            "session_timeout_ms": 45_000,
            "rebalance_timeout_ms": 300_000,
            "reason": "because",
            "error_code": 0,
            "wait_ms": 1.0,
        }
    ]


def test_sync_heartbeat_and_leave() -> None:
    assigned = b"\x00\x00" + wire.encode_data(
        "ConsumerProtocolAssignment", 0, {"assigned_partitions": [{"topic": "t", "partitions": [0, 2]}]}
    )
    member = {"group_id": "g", "member_id": "m", "generation_id": 4}
    leaving = {"group_id": "g", "members": [{"member_id": "m", "group_instance_id": "i", "reason": "closed"}]}
    synced, told, left, left_too, lost = said(
        (SYNC, 3, member, {"assignment": assigned}),
        (HEARTBEAT, 3, member, {"error_code": 27}),
        (LEAVE, 0, {"group_id": "g", "member_id": "m"}, {}),
        (LEAVE, 5, leaving, {}),
        (HEARTBEAT, 3, member, None),
    )["group_events"]
    assert (synced.assignment, synced.member_id, synced.generation) == (("t-0", "t-2"), "m", 4)
    assert (told.error_code, told.member_id, told.generation, told.assignment) == (27, "m", 4, None)
    assert left.members == ("m",)
    assert (left_too.members, left_too.instance_id, left_too.reason) == (("m",), "i", "closed")
    assert (lost.error_code, lost.wait_ms, lost.response_time) == (None, None, None)


NAMED: Exchange = (METADATA, 12, {}, {"topics": [{"name": "t", "topic_id": TOPIC, "partitions": []}]})


def test_consumer_group_heartbeat() -> None:
    request = {
        "group_id": "g",
        "member_id": "m",
        "member_epoch": 3,
        "subscribed_topic_names": ["t"],
        "topic_partitions": [{"topic_id": TOPIC, "partitions": [1]}],
    }
    given = {"topic_partitions": [{"topic_id": TOPIC, "partitions": [1, 2]}]}
    told = {"member_id": "m", "member_epoch": 4, "assignment": given}
    fenced = {"error_code": 110, "member_epoch": 0}
    first, second = said(NAMED, (GROUP_HEARTBEAT, 0, request, told), (GROUP_HEARTBEAT, 0, request, fenced))[
        "group_events"
    ]
    assert (first.generation, first.subscription, first.owned) == (4, ("t",), ("t-1",))
    assert first.assignment == ("t-1", "t-2")
    assert (second.generation, second.error_code) == (3, 110)


def test_endpoints_of_metadata_coordinators_and_leaders_that_moved() -> None:
    brokers = [{"node_id": 1, "host": "broker-1", "port": 29_092, "rack": "r"}]
    found = {"node_id": 2, "host": "b2", "port": 9092}
    nobody = {"key": "x", "node_id": -1, "host": "", "port": -1, "error_code": 15}
    rows = said(
        (METADATA, 12, {}, {"brokers": brokers, "cluster_id": "c", "controller_id": -1}),
        (COORDINATOR, 3, {"key": "g"}, found),
        (COORDINATOR, 4, {"coordinator_keys": ["g", "x"]}, {"coordinators": [{"key": "g", **found}, nobody]}),
        (PRODUCE_KEY, 10, PRODUCE, {"node_endpoints": [{"node_id": 7, "host": "b7", "port": 1}]}),
    )["endpoints"]
    assert shown(rows) == [
        {"node_id": 1, "host": "broker-1", "port": 29_092, "rack": "r", "cluster_id": "c"},
        {"node_id": 2, "host": "b2", "port": 9092, "coordinator_key": "g"},
        {"node_id": 2, "host": "b2", "port": 9092, "coordinator_key": "g"},
        {"node_id": 7, "host": "b7", "port": 1},
    ]
    assert [row.time for row in rows[:1]] == [4_000_000]


def test_leaders_and_topics_in_error() -> None:
    part = {"partition_index": 0, "leader_id": 1, "leader_epoch": 5, "replica_nodes": [1, 2, 3], "isr_nodes": [1]}
    told = {"topics": [{"name": "t", "topic_id": TOPIC, "partitions": [part]}, {"name": "u", "error_code": 3}]}
    assert shown(said((METADATA, 12, {}, told))["leaders"]) == [
        {
            "topic": "t",
            "topic_id": TOPIC_ID,
            "partition": 0,
            "leader_id": 1,
            "leader_epoch": 5,
            "replicas": 3,
            "in_sync": 1,
            "error_code": 0,
        },
        {"topic": "u", "error_code": 3},
    ]


# What earlier exchanges have told.


def fetch(session: int, epoch: int, told: int | None = 77, forgotten: Sequence[int] = (), **offsets: int) -> Exchange:
    """A Fetch of topic t whose answer, of session `told`, has news of partitions 0 and 1."""
    partitions = [{"partition": int(name[1:]), "fetch_offset": offset} for name, offset in offsets.items()]
    topics = [{"topic": "t", "partitions": partitions}] if partitions else []
    lost = [{"topic": "t", "partitions": forgotten}] if forgotten else []
    asked = {"session_id": session, "session_epoch": epoch, "topics": topics, "forgotten_topics_data": lost}
    news = [{"partition_index": number, "high_watermark": 70, "records": b""} for number in (0, 1)]
    answer = {"session_id": told, "responses": [{"topic": "t", "partitions": news}]}
    return FETCH, 12, asked, None if told is None else answer


def offsets(*exchanges: Exchange) -> list[dict[int, int]]:
    """The offsets in force by partition, of each exchange that has an answer."""
    rows = said(*exchanges)["partitions"]
    return [
        {
            row.partition: row.request_offset
            for row in rows
            if row.correlation_id == number and row.request_offset is not None
        }
        for number, (_, _, _, answer) in enumerate(exchanges)
        if answer is not None
    ]


def test_a_fetch_without_a_session_speaks_for_itself() -> None:
    assert offsets(fetch(0, -1, 0, p0=5), fetch(0, -1, 0, p1=6)) == [{0: 5}, {1: 6}]


def test_offsets_hold_until_they_are_said_anew_or_forgotten() -> None:
    assert offsets(
        fetch(0, 0, p0=5, p1=6),
        fetch(77, 1),
        fetch(77, 2, p1=9),
        fetch(77, 3, forgotten=[0]),
        fetch(77, 4, None),
        fetch(77, 5),
    ) == [{0: 5, 1: 6}, {0: 5, 1: 6}, {0: 5, 1: 9}, {1: 9}, {1: 9}]


def test_a_fetch_session_ends_with_its_last_epoch_or_an_error() -> None:
    assert offsets(fetch(0, 0, p0=5), fetch(77, 1, 0), fetch(77, 2)) == [{0: 5}, {0: 5}, {}]
    assert offsets(fetch(0, 0, 78, p0=5), fetch(78, -1, 0, p0=5), fetch(78, 1, 78)) == [{0: 5}, {0: 5}, {}]


def test_a_topic_is_named_from_the_message_on_that_tells_its_name() -> None:
    news = [{"topic_id": TOPIC, "partitions": [{"partition_index": 0, "records": b""}]}]
    fetched: Exchange = (FETCH, 13, {}, {"responses": news})
    rows = said(fetched, NAMED, fetched)
    assert [(row.topic, row.topic_id) for row in rows["partitions"]] == [(None, TOPIC_ID), ("t", TOPIC_ID)]
    assert [row.topics for row in rows["exchanges"]] == [(TOPIC_ID,), ("t",), ("t",)]


def test_topics_are_named_once() -> None:
    topics = [{"name": name} for name in ("a", "b", "a")]
    (row,) = said((METADATA, 12, {"topics": topics}, {"topics": topics}))["exchanges"]
    assert row.topics == ("a", "b")


def test_ends_are_called_by_the_names_that_are_given() -> None:
    names = AddressNames(
        hosts={"10.0.0.2": "broker-1", "10.0.0.1": "app"}, endpoints={"10.0.0.2:9092": ("broker-1", "INTERNAL")}
    )
    for broker, expected in (
        ("10.0.0.2:9092", ("app", "broker-1", "INTERNAL")),
        ("10.0.0.2:1", ("app", "broker-1", None)),
    ):
        talk = TcpConnection(broker=broker).open().ask(ASK).answer(TOLD)
        rows = rows_of_packets(talk.packets, address_names=names)
        for row in (*rows["exchanges"], *rows["connections"]):
            assert (row.client_name, row.broker_name, row.listener) == expected
