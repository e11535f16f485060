"""Messages that were kept raw, and records, are the objects of the plain engine again."""

from typing import Any

import numpy as np
import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.bodies import Bodies
from netdiag.traffic.engine.bodies.facts import EndpointFacts, RequestFacts, ResponseFacts
from netdiag.traffic.engine.compiled.layout import ENDPOINT, FACTS, NOTHING, PARTITION, SCALARS
from netdiag.traffic.engine.compiled.read_back import answer_of, asked_of
from netdiag.traffic.tables import NAMES
from tests.traffic.engine.compiled.exchanges import FakeStore, Texts

BODIES = Bodies(frozenset(NAMES))
TEXTS = [b"app", b"group-a", b"kafka", b"rack"]


def store(*messages: tuple[bytes, int]) -> FakeStore:
    """Raw messages without their size field, and the size that this says."""
    facts = np.zeros(len(messages), FACTS)
    raw = b""
    for record, (message, size) in zip(facts, messages, strict=True):
        record["raw"], record["raw_size"], record["size"] = len(raw), len(message), size
        record["start_time"], record["end_time"], record["end_number"] = 5, 7, 3
        raw += message
    nothing = np.zeros(0, np.int32)
    return FakeStore(
        facts=facts,
        topics=nothing,
        partitions=np.zeros(0, PARTITION),
        batches=nothing,
        forgotten=nothing,
        endpoints=np.zeros(2, ENDPOINT),
        raw=np.frombuffer(raw, np.uint8),
        strings=Texts.of(TEXTS, 0),
        ids=Texts.of([], 0),
    )


def metadata() -> tuple[bytes, bytes]:
    asked = wire.encode_request(3, 12, 42, "app", {"topics": [{"name": "orders"}]})[4:]
    brokers = [{"node_id": 1, "host": "kafka", "port": 9092}]
    said = wire.encode_response(3, 12, 42, {"brokers": brokers, "cluster_id": "c1"})[4:]
    return asked, said


def test_raw_messages_are_read_as_the_plain_engine_reads_them() -> None:
    asked, said = metadata()
    both = store((asked, len(asked)), (said, len(said)))
    both.facts["correlation_id"] = 42
    request = asked_of(both, 0, BODIES)
    assert (request.header.api_key, request.header.client_id, request.facts.topics) == (3, "app", ["orders"])
    assert (request.message.start_time, request.message.end_time, request.message.end_number) == (5, 7, 3)
    answer = answer_of(both, 1, BODIES, request)
    assert answer.correlation_id == 42
    assert answer.facts is not None
    assert answer.facts.cluster_id == "c1"
    assert [(each.host, each.port) for each in answer.facts.endpoints] == [("kafka", 9092)]
    assert answer_of(both, 1, BODIES, None).facts is None


@pytest.mark.parametrize(("kept", "size", "decoded"), [(12, 30, "truncated"), (12, 12, "failed")])
def test_a_header_that_is_cut_says_so(kept: int, size: int, decoded: str) -> None:
    asked, said = metadata()
    both = store((asked[:kept], size), (said[:4], size if size > kept else 4))
    request = asked_of(both, 0, BODIES)
    assert request.facts.decoded == decoded
    answer = answer_of(both, 1, BODIES, asked_of(store((asked, len(asked))), 0, BODIES))
    assert answer.facts is not None
    assert answer.facts.decoded == decoded


def test_an_unknown_message_has_a_header_only() -> None:
    request = asked_of(store((b"\x7f\x00\x00\x01\x00\x00\x00\x09\xff\xff" + bytes(20), 30)), 0, BODIES)
    assert (request.header.api_key, request.header.correlation_id, request.facts.decoded) == (0x7F00, 9, "header")


def test_a_record_says_what_rare_rows_are_made_of() -> None:
    both = store((b"", 0), (b"", 0))
    both.facts["raw"] = NOTHING
    request, response = both.facts
    request["api_key"], request["api_version"], request["correlation_id"], request["client_id"] = 12, 4, 8, 0
    _set(request, group=1, generation=5, member_id=0)
    _set(response, error_code=27, throttle_ms=0, empty=1)
    response["decoded"], response["endpoints"] = 1, (0, 2)
    both.endpoints[0] = (7, 9092, 2, 3)
    both.endpoints[1] = (8, 9093, 2, NOTHING)
    asked = asked_of(both, 0, BODIES)
    assert asked.header[:4] == (12, 4, 8, "app")
    expected = RequestFacts()
    expected.group, expected.generation, expected.member_id, expected.decoded = "group-a", 5, "app", "full"
    assert asked.facts == expected
    said = ResponseFacts()
    said.error_code, said.throttle_ms, said.empty, said.decoded = 27, 0, True, "truncated"
    said.endpoints = (EndpointFacts(7, "kafka", 9092, "rack", None), EndpointFacts(8, "kafka", 9093, None, None))
    assert answer_of(both, 1, BODIES, asked).facts == said


def _set(record: Any, **values: int) -> None:
    for name, value in values.items():
        record[name] = value
        record["present"] |= 1 << SCALARS.index(name)
