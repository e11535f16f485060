"""Conversations: dialogues with brokers and other servers, what real brokers sent, other libraries over loopback."""

import socket
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.kafka import conversation as conversations
from netdiag.kafka import protocol as wire
from netdiag.kafka.conversation import (
    FIRST_CORRELATION_ID,
    LARGEST_ANSWER,
    LARGEST_TOPICS,
    MOST_TOPIC_VALUES,
    Conversation,
    sasl_conversation,
)
from netdiag.kafka.questions import (
    EVERYTHING,
    SETTINGS,
    Answered,
    ApiVersion,
    ApiVersionsReceived,
    ApiVersionsUnsupported,
    ClusterReceived,
    Failed,
    FailureKind,
    IdentityReceived,
    MetadataReceived,
    Outcome,
    Setting,
    Step,
)
from tests.each import each
from tests.examples import examples
from tests.kafka.broker_answers import (
    BROKERS,
    CLUSTER,
    ENDPOINTS,
    KAFKA_2_0,
    KAFKA_4,
    METADATA,
    UNTIL_CLUSTER,
    UNTIL_METADATA,
    answered,
    failed,
    identity_asked,
    offers,
    refuses,
    settings_of,
    unexpected,
)
from tests.kafka.dialogue import Answers, Asks, Closes, FallsSilent, Line, Sends, chunks, play


def identity_conversation(expected_node_id: int) -> Conversation:
    return Conversation(wants=EVERYTHING - {Step.DESCRIBE_CLUSTER}, expected_node_id=expected_node_id)


@given(st.lists(st.integers(1, 50), max_size=5))
def test_the_expected_broker_answers(sizes: list[int]) -> None:
    events = play(
        Conversation(expected_node_id=1),
        (*UNTIL_CLUSTER, Asks(api_key=32, api_version=4, body=identity_asked(1)), Answers(body=settings_of(1))),
        sizes,
    )
    told = (Setting(name="node.id", value="1"), Setting(name="advertised.listeners", value="PLAINTEXT://kafka-1:9092"))
    versions = tuple(ApiVersion(**api) for api in KAFKA_4["api_keys"])
    assert events == [
        ApiVersionsReceived(api_version=4, api_versions=versions),
        MetadataReceived(cluster_id="abc", controller_id=1, brokers=ENDPOINTS),
        ClusterReceived(error_code=0, cluster_id="abc", controller_id=1, brokers=ENDPOINTS),
        IdentityReceived(node_id=1, settings=told, unknown_because=None),
        Answered(
            cluster_id="abc",
            node_id=1,
            controller_id=1,
            brokers=ENDPOINTS,
            api_versions=versions,
            settings=told,
            identity_unknown=None,
        ),
    ]
    assert answered(events).setting("advertised.listeners") == "PLAINTEXT://kafka-1:9092"
    assert answered(events).setting("listeners") is None


def test_another_broker_answers_and_tells_who_it_is() -> None:
    events = play(
        identity_conversation(2),
        (
            *UNTIL_METADATA,
            Asks(api_key=32, api_version=4, body=identity_asked(2)),
            Answers(body=unexpected(own=1, asked=2)),
            Asks(api_key=32, api_version=4, body=identity_asked(1)),
            Answers(body=settings_of(1)),
        ),
    )
    assert answered(events).node_id == 1
    assert answered(events).setting("node.id") == "1"


def test_without_an_expected_id_the_first_of_the_metadata_is_asked_for() -> None:
    events = play(
        Conversation(),
        (*UNTIL_CLUSTER, Asks(api_key=32, api_version=4, body=identity_asked(1)), Answers(body=settings_of(1))),
    )
    assert answered(events).node_id == 1


def test_a_broker_without_metadata_still_tells_who_it_is() -> None:
    events = play(
        identity_conversation(3),
        (
            Asks(api_key=18, api_version=4),
            Answers(body=KAFKA_4),
            Asks(api_key=3, api_version=13),
            Answers(body={"brokers": (), "cluster_id": None, "controller_id": -1}),
            Asks(api_key=32, api_version=4, body=identity_asked(3)),
            Answers(body=settings_of(3)),
        ),
    )
    assert answered(events).brokers == ()
    assert answered(events).node_id == 3


def test_an_old_broker_is_asked_in_versions_that_it_knows() -> None:
    events = play(
        Conversation(expected_node_id=1),
        (
            Asks(api_key=18, api_version=4),
            Answers(body={"error_code": 35}, api_version=0),
            Asks(api_key=18, api_version=0),
            Answers(body=KAFKA_2_0),
            Asks(api_key=3, api_version=6, body={"topics": ()}),
            Answers(body=METADATA),
            Asks(api_key=32, api_version=1),
            Answers(body=settings_of(1)),
        ),
    )
    assert events[0] == ApiVersionsUnsupported(api_version=4, retry_version=0)
    assert answered(events).node_id == 1


def test_all_topics_are_asked_for_where_their_leaders_matter() -> None:
    def topic(name: str, *leaders: int) -> dict[str, object]:
        partitions = [{"error_code": 0, "partition_index": n, "leader_id": id} for n, id in enumerate(leaders)]
        return {"error_code": 0, "name": name, "partitions": partitions}

    topics = [topic("served", 1, 2), topic("half-served", 1, -1), topic("abandoned", -1), topic("empty")]
    events = play(
        Conversation(expected_node_id=1, topics=True),
        (
            Asks(api_key=18, api_version=4),
            Answers(body=KAFKA_4),
            Asks(api_key=3, api_version=13, body={"topics": None, "allow_auto_topic_creation": False}),
            Answers(body={**METADATA, "topics": topics}),
        ),
    )
    assert answered(events).leaderless == ("abandoned", "half-served")


def _partitions(count: int, **fields: object) -> list[dict[str, object]]:
    return [{"error_code": 0, "partition_index": n, "leader_id": 1000 + n, **fields} for n in range(count)]


def _topics(count: int, **fields: object) -> list[dict[str, object]]:
    return [{"error_code": 0, "name": f"topic-{n}", "topic_id": UUID(int=n), **fields} for n in range(count)]


UNKNOWN = wire.UNKNOWN_TAGS
SHARE = 400
"""The answers below are so much smaller than those that the limits are for, and so are their limits."""
REPLICAS = {"replica_nodes": tuple(range(1000, 1003)), "isr_nodes": tuple(range(1000, 1003))}


@each(
    ("topics", "is_read"),
    [
        pytest.param(_topics(1, partitions=_partitions(500, **REPLICAS)), True, id="one topic"),
        pytest.param(_topics(500, partitions=_partitions(1, **REPLICAS)), True, id="a topic for each partition"),
        pytest.param(_topics(1, partitions=_partitions(1600)), False, id="without replicas"),
        pytest.param(_topics(1100), False, id="without partitions"),
        pytest.param(_topics(1, **{UNKNOWN: [(n, b"x") for n in range(90, 6000)]}), False, id="unknown tags"),
        pytest.param(_topics(800, **{UNKNOWN: [(99, b"x")]}), False, id="an unknown tag for each topic"),
        pytest.param(_topics(1, partitions=_partitions(1, replica_nodes=range(7000))), False, id="replicas"),
    ],
)
def test_an_answer_about_200_000_partitions_is_read_and_none_costs_more_than_150_mb(
    topics: list[dict[str, object]], is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "MOST_TOPIC_VALUES", MOST_TOPIC_VALUES // SHARE)
    monkeypatch.setattr(conversations, "LARGEST_TOPICS", LARGEST_TOPICS // SHARE)
    answer = wire.encode_response(3, 13, FIRST_CORRELATION_ID + 1, {**METADATA, "topics": topics})
    conversation = Conversation(topics=True)
    asked = (Asks(api_key=18, api_version=4), Answers(body=KAFKA_4), Asks(api_key=3, api_version=13))
    tracemalloc.start()
    play(conversation, (*asked, Sends(data=answer)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(answer) < LARGEST_TOPICS // SHARE
    assert isinstance(conversation.outcome, Answered) == is_read, conversation.outcome
    assert peak < 150_000_000 // SHARE


def test_a_refusal_may_name_the_version_to_use() -> None:
    named = {"error_code": 35, "api_keys": ({"api_key": 18, "min_version": 0, "max_version": 3},)}
    events = play(
        identity_conversation(1),
        (
            Asks(api_key=18, api_version=4),
            Answers(body=named, api_version=0),
            Asks(api_key=18, api_version=3),
            Answers(body=offers(Metadata=(0, 12))),
            Asks(api_key=3, api_version=12),
            Answers(body=METADATA),
        ),
    )
    assert answered(events).identity_unknown == "it does not offer DescribeConfigs"


def test_a_refusal_in_the_version_that_was_asked_is_understood() -> None:
    events = play(
        Conversation(wants={Step.API_VERSIONS}),
        (
            Asks(api_key=18, api_version=4),
            Sends(data=wire.frame(FIRST_CORRELATION_ID.to_bytes(4, "big") + b"\x00\x23\x01")),
            Asks(api_key=18, api_version=0),
            Answers(body=KAFKA_2_0),
        ),
    )
    assert answered(events).brokers == ()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (refuses(31, None), "it answers DescribeConfigs with CLUSTER_AUTHORIZATION_FAILED"),
        (refuses(42, "something else"), "it answers DescribeConfigs with INVALID_REQUEST"),
        (refuses(42, "expected 99999999999 or so, but received 2"), "it answers DescribeConfigs with INVALID_REQUEST"),
        (refuses(999, "\x1b[2J"), "it answers DescribeConfigs with ERROR_CODE(999)"),
        ({"results": ()}, "it answers DescribeConfigs with nothing"),
    ],
)
def test_a_broker_may_keep_its_identity_to_itself(body: dict[str, Any], reason: str) -> None:
    events = play(identity_conversation(2), (*UNTIL_METADATA, Asks(api_key=32, api_version=4), Answers(body=body)))
    assert answered(events).node_id is None
    assert answered(events).identity_unknown == reason
    assert answered(events).brokers == ENDPOINTS


def test_an_id_that_was_told_stays_known_when_its_settings_are_refused() -> None:
    events = play(
        identity_conversation(2),
        (
            *UNTIL_METADATA,
            Asks(api_key=32, api_version=4),
            Answers(body=unexpected(own=7, asked=2)),
            Asks(api_key=32, api_version=4, body=identity_asked(7)),
            Answers(body=refuses(31, None)),
        ),
    )
    assert (answered(events).node_id, answered(events).settings) == (7, ())


def test_a_broker_with_a_generated_id_has_minus_one_in_its_settings() -> None:
    configs = ({"name": "broker.id", "value": "-1"}, {"name": "node.id", "value": "-1"})
    body = {"results": ({"error_code": 0, "configs": configs},)}
    events = play(identity_conversation(1001), (*UNTIL_METADATA, Asks(api_key=32, api_version=4), Answers(body=body)))
    assert answered(events).node_id == 1001


def test_a_server_that_answers_under_any_id_is_believed_by_its_settings() -> None:
    events = play(
        identity_conversation(2), (*UNTIL_METADATA, Asks(api_key=32, api_version=4), Answers(body=settings_of(5)))
    )
    assert answered(events).node_id == 5


@pytest.mark.parametrize("end", [Closes(), FallsSilent(), Sends(data=b"garbage!"), Sends(data=wire.frame(b"\x00" * 9))])
def test_what_is_known_after_metadata_is_not_lost(end: Line) -> None:
    events = play(identity_conversation(2), (*UNTIL_METADATA, Asks(api_key=32, api_version=4), end))
    assert answered(events).cluster_id == "abc"
    assert answered(events).node_id is None
    assert answered(events).identity_unknown not in (None, "it was not asked")


def test_describe_cluster_may_be_refused() -> None:
    events = play(
        Conversation(expected_node_id=1),
        (
            *UNTIL_METADATA,
            Asks(api_key=60, api_version=2),
            Answers(body={"error_code": 31}),
            Asks(api_key=32, api_version=4),
            Answers(body=settings_of(1)),
        ),
    )
    assert ClusterReceived(error_code=31, cluster_id="", controller_id=-1, brokers=()) in events
    assert answered(events).cluster_id == "abc"


def test_texts_are_kept_but_bounded() -> None:
    host = "\x1b[2J\r\n" + "h" * 20_000
    lines = (*UNTIL_METADATA[:3], Answers(body={**METADATA, "brokers": ({**BROKERS[0], "host": host},)}))
    events = play(Conversation(wants={Step.METADATA}), lines)
    assert answered(events).brokers[0].host == host[:4096]


# --- endpoints that are no broker for a plaintext client


@each(
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
@each("sizes", [(), (1,), (3, 2)])
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
            "no answer to ApiVersions in time, 2 bytes of it arrived",
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


@examples(300)
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


@examples(200)
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


def recorded() -> list[tuple[str, ...]]:
    text = Path(__file__).with_name("recorded_answers.txt").read_text(encoding="utf-8")
    return [tuple(line.split()) for line in text.splitlines() if not line.startswith("#")]


@each("recording", recorded(), ids=lambda recording: "-".join(recording[:3]))
@each("sizes", [(), (1,), (7, 300)])
def test_what_real_brokers_answered(recording: tuple[str, ...], sizes: tuple[int, ...]) -> None:
    _, listener, asked, *reads = recording
    conversation = sasl_conversation() if asked == "sasl" else Conversation(expected_node_id=int(asked))
    conversation.start()
    for read in reads:
        if read == "END":
            conversation.closed()
        else:
            for chunk in chunks(bytes.fromhex(read), sizes):
                conversation.receive(chunk)
        conversation.bytes_to_send()
    outcome = conversation.outcome
    match listener:
        case "PLAINTEXT":
            assert isinstance(outcome, Answered)
            assert (outcome.node_id, outcome.controller_id, outcome.cluster_id) == (7, 7, "A" * 22)
            assert [broker.node_id for broker in outcome.brokers] == [7]
            assert {setting.name for setting in outcome.settings} == set(SETTINGS)
        case "SASL_PLAINTEXT":
            assert isinstance(outcome, Failed)
            assert outcome.kind is FailureKind.SASL
            assert outcome.mechanisms == (("PLAIN",) if asked == "sasl" else ())
        case "SSL":
            assert isinstance(outcome, Failed)
            assert outcome.kind is FailureKind.TLS
        case _:
            assert isinstance(outcome, Failed)
            assert (outcome.kind, outcome.speaks) == (FailureKind.NOT_KAFKA, "KRaft controller")


SECONDS = 10


def talk(address: tuple[str, int], conversation: Conversation) -> Outcome:
    """Drive a conversation over a socket, as a caller would."""
    with socket.create_connection(address, timeout=SECONDS) as connection:
        connection.sendall(conversation.start())
        while conversation.outcome is None:
            try:
                data = connection.recv(65536)
            except TimeoutError:
                conversation.timed_out()
            else:
                if data:
                    conversation.receive(data)
                else:
                    conversation.closed()
                connection.sendall(conversation.bytes_to_send())
    return conversation.outcome


def test_with_librdkafkas_mock_cluster() -> None:
    client = pytest.importorskip("confluent_kafka")
    producer = client.Producer({"bootstrap.servers": "unused:1", "test.mock.num.brokers": 3, "log_level": 0})
    theirs = producer.list_topics(timeout=SECONDS)
    for broker in theirs.brokers.values():
        outcome = talk((broker.host, broker.port), Conversation(expected_node_id=broker.id))
        assert isinstance(outcome, Answered)
        ours = {(found.node_id, found.host, found.port) for found in outcome.brokers}
        assert ours == {(other.id, other.host, other.port) for other in theirs.brokers.values()}
        assert outcome.cluster_id == theirs.cluster_id
        assert outcome.identity_unknown == "it does not offer DescribeConfigs"


@pytest.fixture
def stand_in() -> Iterator[tuple[str, int]]:
    """A server that answers what a diagnosing client asks with what our writer writes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        yield server.getsockname()


def serve(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=answer, args=(connection, server.getsockname()), daemon=True).start()


def answer(connection: socket.socket, address: tuple[str, int]) -> None:
    splitter = wire.FrameSplitter()
    brokers = ({"node_id": 1, "host": address[0], "port": address[1], "rack": None},)
    with connection:
        while data := connection.recv(65536):
            for message in splitter.feed(data):
                request = wire.decode_request(message)
                described = {**CLUSTER, "brokers": ({"broker_id": 1, "host": address[0], "port": address[1]},)}
                bodies = {18: KAFKA_4, 3: {**METADATA, "brokers": brokers}, 60: described, 32: settings_of(1)}
                body = bodies.get(request.api_key)
                if body is None:
                    return
                connection.sendall(
                    wire.encode_response(request.api_key, request.api_version, request.correlation_id, body)
                )


def test_kafka_pythons_client_understands_our_answers(stand_in: tuple[str, int]) -> None:
    kafka = pytest.importorskip("kafka")
    host, port = stand_in
    admin = kafka.KafkaAdminClient(bootstrap_servers=f"{host}:{port}", request_timeout_ms=SECONDS * 1000)
    try:
        cluster = admin.describe_cluster()
    finally:
        admin.close()
    assert cluster["cluster_id"] == "abc"
    assert [(broker["host"], broker["port"]) for broker in cluster["brokers"]] == [(host, port)]


def test_with_the_stand_in_server(stand_in: tuple[str, int]) -> None:
    outcome = talk(stand_in, Conversation(expected_node_id=1))
    assert isinstance(outcome, Answered)
    assert outcome.node_id == 1
