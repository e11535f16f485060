"""Conversations with what is no broker for a plaintext client, and what hostile bytes may cost."""

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netdiag.kafka import protocol as wire
from netdiag.kafka.conversation import (
    FIRST_CORRELATION_ID,
    LARGEST_ANSWER,
    Answered,
    Conversation,
    Failed,
    FailureKind,
    Step,
    sasl_conversation,
)
from tests.kafka.broker_answers import (
    CLUSTER,
    KAFKA_4,
    METADATA,
    answered,
    failed,
    offers,
    settings_of,
)
from tests.kafka.dialogue import Answers, Asks, Closes, FallsSilent, Line, Sends, play

# --- endpoints that are no broker for a plaintext client


@pytest.mark.parametrize(
    ("data", "kind", "speaks"),
    [
        (b"\x15\x03\x03\x00\x02\x02\x46", FailureKind.TLS, "TLS"),
        (b"\x16\x03\x03\x00\x31", FailureKind.TLS, "TLS"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", FailureKind.NOT_KAFKA, "HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", FailureKind.NOT_KAFKA, "SSH"),
        (b"imok", FailureKind.NOT_KAFKA, "text that starts with 'imok'"),
        (b"\x7f\xff\xff\xff", FailureKind.NOT_KAFKA, "binary"),
        (b"\xff\xff\xff\xff", FailureKind.NOT_KAFKA, "binary"),
        (b"\x00\x00\x00\x00", FailureKind.NOT_KAFKA, "binary"),
        (wire.frame(bytes(12)), FailureKind.NOT_KAFKA, "binary"),
        (wire.frame(bytes(16) + b"\x00\x00\x00\x10" + bytes(17)), FailureKind.NOT_KAFKA, "ZooKeeper"),
        (wire.frame(FIRST_CORRELATION_ID.to_bytes(4, "big")), FailureKind.NOT_KAFKA, None),
        (wire.frame(FIRST_CORRELATION_ID.to_bytes(4, "big") + b"\x00\x00\xff"), FailureKind.NOT_KAFKA, None),
    ],
)
@pytest.mark.parametrize("sizes", [(), (1,), (3, 2)])
def test_a_stranger_answers(data: bytes, kind: FailureKind, speaks: str | None, sizes: tuple[int, ...]) -> None:
    outcome = failed(play(Conversation(), (Asks(api_key=18, api_version=4), Sends(data=data)), sizes))
    assert (outcome.kind, outcome.speaks, outcome.waiting_for) == (kind, speaks, Step.API_VERSIONS)
    assert data.startswith(outcome.first_bytes[:4])


def test_an_echo_is_told_apart() -> None:
    conversation = Conversation()
    sent = conversation.start()
    assert failed(conversation.receive(sent)).speaks == "echo"


@pytest.mark.parametrize(
    ("lines", "kind", "detail"),
    [
        ((Closes(),), FailureKind.CLOSED, "closed without an answer to ApiVersions"),
        ((FallsSilent(),), FailureKind.NO_ANSWER, "no answer to ApiVersions in time"),
        (
            (Sends(data=b"\x00\x00\x01\x00abc"), Closes()),
            FailureKind.CLOSED,
            "closed after 7 bytes of its ApiVersions answer",
        ),
        (
            (Sends(data=b"\x00\x00"), FallsSilent()),
            FailureKind.NO_ANSWER,
            "no answer to ApiVersions in time, 2 bytes of it came",
        ),
        (
            (Answers(body={"error_code": 42}),),
            FailureKind.ERROR,
            "it answers ApiVersions with INVALID_REQUEST",
        ),
        (
            (Answers(body={"error_code": 34}),),
            FailureKind.SASL,
            "it answers ApiVersions with ILLEGAL_SASL_STATE",
        ),
        (
            (Answers(body=KAFKA_4), Asks(api_key=3, api_version=13), Closes()),
            FailureKind.SASL,
            "it closed at the first request after ApiVersions",
        ),
        (
            (Answers(body=KAFKA_4), Asks(api_key=3, api_version=13), FallsSilent()),
            FailureKind.NO_ANSWER,
            "no answer to Metadata in time",
        ),
        (
            (Answers(body=KAFKA_4), Asks(api_key=3, api_version=13), Answers(body={"error_code": -1})),
            FailureKind.ERROR,
            "it answers Metadata with UNKNOWN_SERVER_ERROR",
        ),
        (
            (Answers(body=offers(Metadata=(0, 0))),),
            FailureKind.ERROR,
            "it offers Metadata 0 to 0, too old or too new",
        ),
        (
            (Answers(body=offers(Vote=(0, 2), DescribeCluster=(0, 2))),),
            FailureKind.NOT_KAFKA,
            "it serves the KRaft quorum, not clients: a controller's listener",
        ),
        ((Answers(body={}),), FailureKind.NOT_KAFKA, "it offers no Metadata, only nothing"),
    ],
)
def test_no_usable_answer(lines: tuple[Line, ...], kind: FailureKind, detail: str) -> None:
    outcome = failed(play(Conversation(), (Asks(api_key=18, api_version=4), *lines)))
    assert (outcome.kind, outcome.detail) == (kind, detail)


def test_a_broker_that_refuses_every_version_ends_it() -> None:
    lines = (
        Asks(api_key=18, api_version=4),
        Answers(body={"error_code": 35}, api_version=0),
        Asks(api_key=18, api_version=0),
        Answers(body={"error_code": 35}),
    )
    assert failed(play(Conversation(), lines)).kind is FailureKind.ERROR


def test_a_sasl_listener_names_its_mechanisms() -> None:
    asked = Asks(api_key=17, api_version=1, body={"mechanism": ""})
    lines = (Asks(api_key=18, api_version=4), Answers(body=KAFKA_4), asked)
    refusal = Answers(body={"error_code": 33, "mechanisms": ("PLAIN", "SCRAM-SHA-512")})
    outcome = failed(play(sasl_conversation(), (*lines, refusal)))
    assert (outcome.kind, outcome.mechanisms) == (FailureKind.SASL, ("PLAIN", "SCRAM-SHA-512"))
    no_sasl = Answers(body={"error_code": 34})
    assert answered(play(sasl_conversation(), (*lines, no_sasl))).cluster_id is None


# --- whose fault, and what it costs


def test_wrong_use_is_our_own_fault() -> None:
    conversation = Conversation()
    with pytest.raises(wire.LocalProtocolError, match="has not started"):
        conversation.receive(b"")
    with pytest.raises(wire.LocalProtocolError, match="has not started"):
        conversation.closed()
    with pytest.raises(wire.LocalProtocolError, match="has not started"):
        conversation.timed_out()
    conversation.start()
    with pytest.raises(wire.LocalProtocolError, match="has started already"):
        conversation.start()


def test_it_says_what_it_waits_for() -> None:
    conversation = Conversation()
    assert conversation.waiting_for is None
    conversation.start()
    assert conversation.waiting_for is Step.API_VERSIONS
    conversation.closed()
    assert conversation.waiting_for is None
    assert conversation.receive(b"more") == conversation.closed() == conversation.timed_out() == []


def test_a_client_version_is_made_fit_for_a_broker() -> None:
    body = {"client_software_name": "netdiag", "client_software_version": "1.2.dev0.x"}
    asks = Asks(api_key=18, api_version=4, body=body)
    play(Conversation(client_version="1.2.dev0+x!"), (asks, Closes()))


def test_golden_first_bytes() -> None:
    assert Conversation().start().hex(" ") == (
        "00 00 00 1d 00 12 00 04 6e 64 00 01 00 07 6e 65 74 64 69 61 67 00 08 6e 65 74 64 69 61 67 02 30 00"
    )


def test_a_large_answer_costs_bounded_memory() -> None:
    conversation = Conversation()
    conversation.start()
    tracemalloc.start()
    conversation.receive(LARGEST_ANSWER.to_bytes(4, "big") + FIRST_CORRELATION_ID.to_bytes(4, "big"))
    for _ in range(32):
        conversation.receive(b"\x00" * 65536)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert conversation.outcome is not None
    assert peak < 8 << 20


@settings(max_examples=300, deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=8), st.booleans())
def test_whatever_comes_it_ends_without_an_exception(pieces: list[bytes], framed: bool) -> None:
    conversation = Conversation(expected_node_id=1)
    conversation.start()
    correlation_id = FIRST_CORRELATION_ID
    for piece in pieces:
        data = wire.frame(correlation_id.to_bytes(4, "big") + piece) if framed else piece
        conversation.receive(data)
        correlation_id += bool(conversation.bytes_to_send())
    conversation.closed()
    assert conversation.outcome is not None


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 3), st.data())
def test_a_broken_answer_ends_in_an_outcome(step: int, data: st.DataObject) -> None:
    """The right dialogue up to a step, then its answer with a piece cut out or changed."""
    bodies = [(18, 4, KAFKA_4), (3, 13, METADATA), (60, 2, CLUSTER), (32, 4, settings_of(1))]
    conversation = Conversation(expected_node_id=1)
    conversation.start()
    for turn, (api_key, version, body) in enumerate(bodies[: step + 1]):
        answer = bytearray(wire.encode_response(api_key, version, FIRST_CORRELATION_ID + turn, body)[4:])
        if turn == step:
            at = data.draw(st.integers(0, len(answer) - 1))
            answer[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
        conversation.receive(wire.frame(bytes(answer)))
    conversation.timed_out()
    assert isinstance(conversation.outcome, Answered | Failed)
    if step > 1:
        assert isinstance(conversation.outcome, Answered)
