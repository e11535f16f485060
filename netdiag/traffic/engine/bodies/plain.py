"""The facts of a body by way of the generic reader."""

from collections.abc import Iterator
from typing import Any

from netdiag.kafka import protocol as wire
from netdiag.kafka.protocol.message import UNSUPPORTED_VERSION
from netdiag.traffic.engine.bodies.facts import FAILED, HEADER, TRUNCATED, RequestFacts, ResponseFacts, Topic

_TOPIC_ARRAYS = ("topics", "topic_data", "responses", "v3_and_below_topics", "results_by_topic_v3_and_below")
_MOST_VALUES = 200_000


def request_facts(api_key: int, api_version: int, body: bytes | memoryview, declared: int) -> RequestFacts:
    """What a request body of `declared` bytes tells, of which `body` was kept."""
    facts = RequestFacts()
    value = _decode(facts, api_key, api_version, wire.Direction.REQUEST, body, declared)
    if value is None:
        return facts
    facts.topics = tuple(dict.fromkeys(_topics(value)))
    facts.group = value.get("group_id")
    facts.acks = value.get("acks")
    facts.transactional_id = value.get("transactional_id")
    return facts


def response_facts(api_key: int, api_version: int, body: bytes | memoryview, declared: int) -> ResponseFacts:
    """What a response body of `declared` bytes tells, of which `body` was kept."""
    if api_key == wire.table.API_VERSIONS and body[:2] == UNSUPPORTED_VERSION.to_bytes(2, "big"):
        api_version = 0
    facts = ResponseFacts()
    value = _decode(facts, api_key, api_version, wire.Direction.RESPONSE, body, declared)
    if value is None:
        return facts
    facts.topics = tuple(dict.fromkeys(_topics(value)))
    facts.throttle_ms = value.get("throttle_time_ms")
    codes = list(_error_codes(value))
    facts.error_code = next((code for code in codes if code), 0)
    return facts


def _decode(
    facts: RequestFacts | ResponseFacts,
    api_key: int,
    api_version: int,
    direction: wire.Direction,
    body: bytes | memoryview,
    declared: int,
) -> dict[str, Any] | None:
    try:
        decoded = wire.decode(api_key, api_version, direction, body, declared=declared, max_values=_MOST_VALUES)
    except wire.UnknownMessage:
        facts.decoded = HEADER
        return None
    except wire.DecodeError:
        facts.decoded = FAILED
        return None
    if decoded.truncated is not None:
        facts.decoded = TRUNCATED
    return decoded.value


def _topics(value: dict[str, Any], inside: str = "") -> Iterator[Topic]:
    for name, content in value.items():
        if isinstance(content, str) and (
            name in ("topic", "topic_name") or (name == "name" and inside in _TOPIC_ARRAYS)
        ):
            yield content
        elif name == "topic_id" and content.int:
            yield content.bytes
        elif isinstance(content, tuple):
            for item in content:
                if isinstance(item, dict):
                    yield from _topics(item, name)


def _error_codes(value: dict[str, Any]) -> Iterator[int]:
    for name, content in value.items():
        if name.endswith("error_code") and isinstance(content, int):
            yield content
        elif isinstance(content, tuple):
            for item in content:
                if isinstance(item, dict):
                    yield from _error_codes(item)
        elif isinstance(content, dict):
            yield from _error_codes(content)
