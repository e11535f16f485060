"""From what both messages of an exchange tell to the rows of the tables."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.bodies import RequestFacts, ResponseFacts
from netdiag.traffic.engine.headers import RequestHeader
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.topic_ids import TopicIds
from netdiag.traffic.places import NOBODY, Named
from netdiag.traffic.rows import ExchangeRow

FETCH, JOIN_GROUP = 1, 11
# How far a body was decoded, worst last.
_WORST = ("full", "truncated", "header", "failed")


class Context(NamedTuple):
    """What an exchange is part of."""

    connection: int
    client: str
    broker: str
    files: Sequence[str] | Mapping[int, str]
    topic_ids: TopicIds
    named: Named = NOBODY


class Asked(NamedTuple):
    """A request: its header, its message (without the bytes), what its body says."""

    header: RequestHeader
    message: Message
    facts: RequestFacts


class Answer(NamedTuple):
    """A response: its correlation id, its message (without the bytes), what its body says if its request is known."""

    correlation_id: int
    message: Message
    facts: ResponseFacts | None


def exchange_row(context: Context, asked: Asked | None, answer: Answer | None, outcome: str) -> ExchangeRow:
    """The row of `exchanges`; one of `asked` and `answer` is there."""
    if asked is None:
        assert answer is not None
        return _alone(context, answer, outcome)
    header, message, facts = asked
    said = None if answer is None else answer.facts
    topics = facts.topics if said is None else (*facts.topics, *said.topics)
    latency = service = None
    if answer is not None:
        latency = (answer.message.end_time - message.end_time) / 1e6
        service = (answer.message.start_time - message.end_time) / 1e6
    produced = facts.records is not None or facts.record_bytes is not None
    carrier: RequestFacts | ResponseFacts | None = facts if produced else said
    assert header.correlation_id is not None
    return ExchangeRow(
        time=message.end_time,
        client=context.client,
        broker=context.broker,
        api_key=header.api_key,
        api_name=None if header.api_key is None else wire.api_name(header.api_key),
        api_version=header.api_version,
        correlation_id=header.correlation_id,
        client_id=header.client_id,
        request_bytes=message.size,
        response_bytes=None if answer is None else answer.message.size,
        latency_ms=latency,
        error_code=None if said is None else said.error_code,
        topics=tuple(dict.fromkeys(map(context.topic_ids.shown, topics))) or None,
        group=facts.group,
        decoded=facts.decoded if said is None else max(facts.decoded, said.decoded, key=_WORST.index),
        outcome=outcome,
        response_time=None if answer is None else answer.message.end_time,
        service_ms=service,
        wait_ms=facts.wait_ms,
        empty=None if said is None else said.empty,
        throttle_ms=None if said is None else said.throttle_ms,
        acks=facts.acks,
        records=None if carrier is None else carrier.records,
        record_bytes=None if carrier is None else carrier.record_bytes,
        transactional_id=facts.transactional_id,
        replica_id=facts.replica_id,
        committed=facts.committed,
        client_name=context.named.client,
        broker_name=context.named.broker,
        listener=context.named.listener,
        connection=context.connection,
        request_packet=message.end_number,
        response_packet=None if answer is None else answer.message.end_number,
        file=context.files[message.file],
    )


def _alone(context: Context, answer: Answer, outcome: str) -> ExchangeRow:
    message = answer.message
    nothing: dict[str, Any] = dict.fromkeys(ExchangeRow._fields)
    known: dict[str, Any] = {
        "time": message.end_time,
        "client": context.client,
        "broker": context.broker,
        "correlation_id": answer.correlation_id,
        "response_bytes": message.size,
        "decoded": "header",
        "outcome": outcome,
        "response_time": message.end_time,
        "client_name": context.named.client,
        "broker_name": context.named.broker,
        "listener": context.named.listener,
        "connection": context.connection,
        "response_packet": message.end_number,
        "file": context.files[message.file],
    }
    return ExchangeRow(**{**nothing, **known})
