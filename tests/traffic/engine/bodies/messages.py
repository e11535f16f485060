"""Exchanges of the engine, made of values by the encoder of `kafka.protocol`."""

from collections.abc import Mapping
from typing import Any

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.assemble import Answer, Asked, Context
from netdiag.traffic.engine.bodies import request_facts, response_facts
from netdiag.traffic.engine.headers import RequestHeader
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.topic_ids import TopicIds

Value = Mapping[str, Any]


def context() -> Context:
    return Context(5, "10.0.0.1:40000", "10.0.0.2:9092", ("a.pcap",), TopicIds())


def asked(api_key: int, version: int, value: Value) -> Asked:
    body = wire.encode(api_key, version, wire.Direction.REQUEST, value)
    message = Message(True, len(body) + 20, b"", None, 1_000_000, 1_000_000, 1, 1, 0)
    header = RequestHeader(api_key, version, 3, "app", 20, True)
    return Asked(header, message, request_facts(api_key, version, body, len(body)))


def answer(api_key: int, version: int, value: Value) -> Answer:
    body = wire.encode(api_key, version, wire.Direction.RESPONSE, value)
    message = Message(False, len(body) + 4, b"", None, 3_000_000, 5_000_000, 2, 3, 0)
    return Answer(3, message, response_facts(api_key, version, body, len(body)))
