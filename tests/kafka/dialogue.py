"""Dialogues with a conversation: who asks, who answers, in any chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from netdiag.kafka import protocol as wire
from netdiag.kafka.conversation import Conversation
from netdiag.kafka.questions import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """The conversation is expected to ask this; `body` are the fields that matter."""

    api_key: int
    api_version: int
    body: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The endpoint answers with this body; in another version where `api_version` says so."""

    body: dict[str, Any]
    api_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sends:
    """The endpoint sends bytes as they are."""

    data: bytes


class Closes:
    """The endpoint ends the connection."""


class FallsSilent:
    """The endpoint sends nothing more, until the caller's time is up."""


Line = Asks | Answers | Sends | Closes | FallsSilent


def play(conversation: Conversation, lines: Sequence[Line], sizes: Sequence[int] = ()) -> list[Event]:
    """Play a dialogue and give every event; the endpoint's bytes arrive in chunks of these sizes, over and over."""
    events: list[Event] = []
    sent = conversation.start()
    request: wire.Request | None = None
    for line in lines:
        match line:
            case Asks():
                (message,) = wire.FrameSplitter().feed(sent)
                request = wire.decode_request(message)
                assert (request.api_key, request.api_version) == (line.api_key, line.api_version)
                assert request.body.left_over == 0
                for name, value in (line.body or {}).items():
                    assert request.body.value[name] == value
                continue
            case Answers():
                assert request is not None
                version = request.api_version if line.api_version is None else line.api_version
                data = wire.encode_response(request.api_key, version, request.correlation_id, line.body)
                for chunk in chunks(data, sizes):
                    events += conversation.receive(chunk)
            case Sends():
                for chunk in chunks(line.data, sizes):
                    events += conversation.receive(chunk)
            case Closes():
                events += conversation.closed()
            case FallsSilent():
                events += conversation.timed_out()
        sent = conversation.bytes_to_send()
    assert sent == b"", "the dialogue ends and the conversation still asks"
    return events


def chunks(data: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    """Cut data into pieces of these sizes, over and over."""
    if not sizes:
        yield data
        return
    at = turn = 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        yield data[at : at + size]
        at += size
        turn += 1
