"""The facts of bodies, whole and cut."""

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


def test_what_is_not_known_or_not_a_body() -> None:
    assert request_facts(900, 0, b"abc", 3).decoded == "header"
    assert request_facts(3, 99, b"abc", 3).decoded == "header"
    assert request_facts(0, 3, b"\x00\x30abc", 5).decoded == "failed"
