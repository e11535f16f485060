"""cp-kafka: the order in which its start script refuses."""

import pytest

from netdiag.kafka.images.confluent import settings
from netdiag.kafka.images.reference import KafkaVersion

_OK: dict[str, str | None] = {
    "KAFKA_ZOOKEEPER_CONNECT": "z:2181",
    "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092",
}


@pytest.mark.parametrize(
    ("extra", "prints"),
    [
        ({}, None),
        (
            {"KAFKA_ADVERTISED_PORT": "1"},
            "advertised.port is deprecated. Please use KAFKA_ADVERTISED_LISTENERS instead.",
        ),
        ({"KAFKA_PORT": "1"}, "port is deprecated. Please use KAFKA_ADVERTISED_LISTENERS instead."),
        ({"KAFKA_ADVERTISED_HOST_NAME": "x"}, None),
        ({"KAFKA_ZOOKEEPER_CONNECT": ""}, "KAFKA_ZOOKEEPER_CONNECT is required."),
    ],
)
def test_refusal(extra: dict[str, str | None], prints: str | None) -> None:
    refusal = settings(_OK | extra, KafkaVersion(3, 9)).refusal
    assert (refusal.prints if refusal else None) == prints
