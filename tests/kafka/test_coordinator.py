"""Which broker coordinates a group: asked without creating anything."""

from typing import Any

import pytest

from netdiag.kafka import protocol as wire
from netdiag.kafka.conversation import OFFSETS_TOPIC, Coordinator, CoordinatorConversation, NoCoordinator
from netdiag.kafka.questions import ApiVersion, NodeEndpoint
from tests.kafka.dialogue import chunks

NEW = {3: 13, 10: 6}
OLD = {3: 4, 10: 1}


def offer(newest: dict[int, int]) -> tuple[ApiVersion, ...]:
    return tuple(ApiVersion(api_key=key, min_version=0, max_version=most) for key, most in newest.items())


def asked(data: bytes) -> wire.Request:
    (message,) = wire.FrameSplitter().feed(data)
    return wire.decode_request(message)


def answer(request: wire.Request, body: dict[str, Any]) -> bytes:
    return wire.encode_response(request.api_key, request.api_version, request.correlation_id, body)


def topic(error_code: int) -> dict[str, Any]:
    return {"topics": ({"error_code": error_code, "name": OFFSETS_TOPIC},), "brokers": ()}


@pytest.mark.parametrize("newest", [NEW, OLD], ids=["new", "old"])
@pytest.mark.parametrize("sizes", [(), (1,), (5, 90)])
def test_a_coordinator_is_named(newest: dict[int, int], sizes: tuple[int, ...]) -> None:
    conversation = CoordinatorConversation("shop", offer(newest))
    request = asked(conversation.start())
    assert (request.api_key, request.api_version) == (3, newest[3])
    assert request.body.value["topics"][0]["name"] == OFFSETS_TOPIC
    assert request.body.value["allow_auto_topic_creation"] is False
    for chunk in chunks(answer(request, topic(0)), sizes):
        conversation.receive(chunk)
    request = asked(conversation.bytes_to_send())
    assert (request.api_key, request.api_version) == (10, newest[10])
    value = request.body.value
    assert value.get("key", value.get("coordinator_keys")) in ("shop", ("shop",), ["shop"])
    named = {"node_id": 2, "host": "kafka-2", "port": 9092, "error_code": 0, "key": "shop"}
    body = {"coordinators": (named,)} if newest[10] >= 4 else {k: v for k, v in named.items() if k != "key"}
    for chunk in chunks(answer(request, body), sizes):
        conversation.receive(chunk)
    assert conversation.outcome == Coordinator(endpoint=NodeEndpoint(node_id=2, host="kafka-2", port=9092))


def test_nothing_is_created_where_no_group_was_ever_used() -> None:
    conversation = CoordinatorConversation("shop", offer(NEW))
    conversation.receive(answer(asked(conversation.start()), topic(3)))
    assert conversation.bytes_to_send() == b""
    assert isinstance(conversation.outcome, NoCoordinator)
    assert conversation.outcome.harmless


@pytest.mark.parametrize("newest", [{3: 3, 10: 1}, {3: 13}, {}], ids=["creates", "no FindCoordinator", "nothing"])
def test_a_broker_that_cannot_be_asked_safely_is_not(newest: dict[int, int]) -> None:
    conversation = CoordinatorConversation("shop", offer(newest))
    assert conversation.start() == b""
    assert isinstance(conversation.outcome, NoCoordinator)


def test_an_error_code_is_named() -> None:
    conversation = CoordinatorConversation("shop", offer(NEW))
    conversation.receive(answer(asked(conversation.start()), topic(0)))
    refused = {"node_id": -1, "host": "", "port": -1, "error_code": 15, "key": "shop"}
    conversation.receive(answer(asked(conversation.bytes_to_send()), {"coordinators": (refused,)}))
    assert isinstance(conversation.outcome, NoCoordinator)
    assert "COORDINATOR_NOT_AVAILABLE" in conversation.outcome.because


@pytest.mark.parametrize("data", [b"\x7f\xff\xff\xff", b"\0\0\0\x08abcdefgh", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_strangers_are_an_outcome(data: bytes) -> None:
    conversation = CoordinatorConversation("shop", offer(NEW))
    conversation.start()
    conversation.receive(data)
    assert isinstance(conversation.outcome, NoCoordinator)


def test_an_end_is_an_outcome() -> None:
    closed, silent = (CoordinatorConversation("shop", offer(NEW)) for _ in range(2))
    closed.start()
    closed.closed()
    silent.start()
    silent.timed_out()
    assert isinstance(closed.outcome, NoCoordinator)
    assert isinstance(silent.outcome, NoCoordinator)
