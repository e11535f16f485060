"""Conversations over loopback: with librdkafka's mock cluster; kafka-python's client with a server of our answers."""

import socket
import threading
from collections.abc import Iterator

import pytest

from netdiag.kafka import protocol as wire
from netdiag.kafka.conversation import Answered, Conversation, Outcome
from tests.kafka.broker_answers import CLUSTER, KAFKA_4, METADATA, settings_of

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
