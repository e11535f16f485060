"""The facts of bodies, whole and cut."""

import struct
import uuid

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.bodies import request_facts, response_facts

REQUEST, RESPONSE = wire.Direction.REQUEST, wire.Direction.RESPONSE


def test_a_produce_request() -> None:
    topics = [{"name": "orders", "partition_data": [{"index": 3, "records": b"r" * 9}]}]
    body = wire.encode(0, 9, REQUEST, {"transactional_id": "t", "acks": 1, "topic_data": topics})
    facts = request_facts(0, 9, body, len(body))
    assert (facts.decoded, facts.topics, facts.acks, facts.transactional_id) == ("full", ["orders"], 1, "t")
    cut = request_facts(0, 9, body[:4], len(body))
    assert (cut.decoded, cut.topics, cut.acks, cut.transactional_id) == ("truncated", [], 1, "t")


def test_a_fetch_response() -> None:
    topic = uuid.UUID(int=5)
    partitions = [{"partition_index": 1, "error_code": 6, "records": b""}]
    body = wire.encode(
        1, 13, RESPONSE, {"throttle_time_ms": 4, "responses": [{"topic_id": topic, "partitions": partitions}]}
    )
    facts = response_facts(1, 13, body + b"\x00", len(body) + 1)
    assert (facts.decoded, facts.topics, facts.error_code, facts.throttle_ms) == ("full", [topic.bytes], 6, 4)


def test_api_versions_with_error_35_has_the_body_of_version_0() -> None:
    body = wire.encode(18, 0, RESPONSE, {"error_code": 35, "api_keys": [{"api_key": 18, "max_version": 4}]})
    facts = response_facts(18, 4, body, len(body))
    assert (facts.decoded, facts.error_code) == ("full", 35)


def test_api_versions_with_error_35_of_a_mock_cluster() -> None:
    body = bytes.fromhex("00230100120000000200 00000000")
    assert response_facts(18, 3, body, len(body)) == response_facts(18, 0, b"\x00\x23\x00\x00\x00\x00", 6)


def test_null_is_taken_where_a_mock_cluster_writes_it() -> None:
    facts = response_facts(14, 3, bytes.fromhex("00000000001bffffffff"), 10)
    assert (facts.decoded, facts.error_code, facts.assignment) == ("full", 27, None)


def test_an_end_of_a_transaction() -> None:
    body = wire.encode(26, 3, REQUEST, {"transactional_id": "t", "committed": True})
    assert request_facts(26, 3, body, len(body)).committed is True


def test_how_long_a_join_may_wait() -> None:
    fields = {"group_id": "g", "session_timeout_ms": 9000}
    for version, expected in ((0, 9000), (4, 60000)):
        more = {"rebalance_timeout_ms": 60000} if version else {}
        body = wire.encode(11, version, REQUEST, fields | more)
        assert request_facts(11, version, body, len(body)).wait_ms == expected


def test_what_is_not_known_or_not_a_body() -> None:
    assert request_facts(900, 0, b"abc", 3).decoded == "header"
    assert request_facts(3, 99, b"abc", 3).decoded == "header"
    assert request_facts(0, 3, b"\x00\x30abc", 5).decoded == "failed"


def _batch(size: int) -> bytes:
    return struct.pack(">qiibIhiqqqhii", 0, 49 + size, 0, 2, 0, 0, 2, 1000, 3000, 7, 1, 0, 3) + bytes(size)


def test_records_are_counted_where_their_header_was_kept() -> None:
    parts = [{"index": number, "records": _batch(1000)} for number in (0, 1)]
    for version in (3, 9):
        one = wire.encode(0, version, REQUEST, {"acks": 1, "topic_data": [{"name": "t", "partition_data": parts[:1]}]})
        facts = request_facts(0, version, one[:200], len(one))
        assert (facts.decoded, facts.records, facts.record_bytes) == ("truncated", 3, 1061)
        assert [(row.records, row.record_bytes) for row in facts.partitions] == [(3, 1061)]
        both = wire.encode(0, version, REQUEST, {"acks": 1, "topic_data": [{"name": "t", "partition_data": parts}]})
        facts = request_facts(0, version, both[:200], len(both))
        assert (facts.decoded, facts.records, facts.record_bytes) == ("truncated", None, None)
        assert [(row.records, row.record_bytes) for row in facts.partitions] == [(3, 1061)]
        facts = request_facts(0, version, one[:50], len(one))
        assert (facts.records, facts.record_bytes) == (None, 1061)


def test_a_fetch_that_was_cut_is_not_empty() -> None:
    told = {"responses": [{"topic": "t", "partitions": [{"partition_index": 0, "records": _batch(1000)}]}]}
    body = wire.encode(1, 12, RESPONSE, told)
    assert response_facts(1, 12, body[:50], len(body)).empty is None
    assert response_facts(1, 12, body[:100], len(body)).empty is False
    assert response_facts(1, 12, body, len(body)).empty is False
