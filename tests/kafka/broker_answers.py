"""What brokers answer in the dialogues of these tests, and what is expected of an end."""

from collections.abc import Sequence
from typing import Any

from netdiag.kafka import protocol as wire
from netdiag.kafka.questions import SETTINGS, Answered, Failed, NodeEndpoint
from tests.kafka.dialogue import Answers, Asks, Line

BROKERS = (
    {"node_id": 1, "host": "kafka-1", "port": 9092, "rack": None},
    {"node_id": 2, "host": "192.168.8.10", "port": 9094, "rack": "b"},
)
ENDPOINTS = (
    NodeEndpoint(node_id=1, host="kafka-1", port=9092, rack=None),
    NodeEndpoint(node_id=2, host="192.168.8.10", port=9094, rack="b"),
)


def offers(**versions: tuple[int, int]) -> dict[str, Any]:
    """An ApiVersions answer: Metadata=(0, 13) and so on."""
    keys = {wire.api_name(key): key for key in wire.api_keys()}
    return {
        "api_keys": tuple(
            {"api_key": keys[name], "min_version": least, "max_version": most}
            for name, (least, most) in versions.items()
        )
    }


KAFKA_4 = offers(
    Metadata=(0, 13), SaslHandshake=(0, 1), ApiVersions=(0, 4), DescribeConfigs=(1, 4), DescribeCluster=(0, 2)
)
KAFKA_2_0 = offers(Metadata=(0, 6), SaslHandshake=(0, 1), ApiVersions=(0, 2), DescribeConfigs=(0, 1))
METADATA = {"brokers": BROKERS, "cluster_id": "abc", "controller_id": 1}
CLUSTER = {
    "cluster_id": "abc",
    "controller_id": 1,
    "brokers": (
        {"broker_id": 1, "host": "kafka-1", "port": 9092, "rack": None},
        {"broker_id": 2, "host": "192.168.8.10", "port": 9094, "rack": "b"},
    ),
}


def settings_of(node_id: int) -> dict[str, Any]:
    """DescribeConfigs of a broker that was asked by its own id."""
    configs = (
        {"name": "node.id", "value": str(node_id)},
        {"name": "advertised.listeners", "value": f"PLAINTEXT://kafka-{node_id}:9092"},
    )
    return {"results": ({"error_code": 0, "resource_name": str(node_id), "configs": configs},)}


def refuses(error_code: int, message: str | None) -> dict[str, Any]:
    return {"results": ({"error_code": error_code, "error_message": message, "resource_name": "x"},)}


def unexpected(own: int, asked: int) -> dict[str, Any]:
    return refuses(42, f"Unexpected broker id, expected {own} or empty string, but received {asked}")


def identity_asked(node_id: int) -> dict[str, Any]:
    resource = {"resource_type": 4, "resource_name": str(node_id), "configuration_keys": SETTINGS}
    return {"resources": (resource,)}


UNTIL_METADATA: tuple[Line, ...] = (
    Asks(api_key=18, api_version=4),
    Answers(body=KAFKA_4),
    Asks(api_key=3, api_version=13, body={"topics": (), "allow_auto_topic_creation": False}),
    Answers(body=METADATA),
)
UNTIL_CLUSTER: tuple[Line, ...] = (*UNTIL_METADATA, Asks(api_key=60, api_version=2), Answers(body=CLUSTER))


def ended(events: Sequence[object]) -> Answered | Failed:
    last = events[-1]
    assert isinstance(last, Answered | Failed)
    assert not any(isinstance(event, Answered | Failed) for event in events[:-1])
    return last


def failed(events: Sequence[object]) -> Failed:
    outcome = ended(events)
    assert isinstance(outcome, Failed)
    return outcome


def answered(events: Sequence[object]) -> Answered:
    outcome = ended(events)
    assert isinstance(outcome, Answered)
    return outcome
