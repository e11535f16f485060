"""Image references and the Kafka that their tags stand for."""

import pytest

from netdiag.kafka.images.reference import ImageFamily, parse_image, runs_broker


@pytest.mark.parametrize(
    ("text", "family", "version"),
    [
        ("apache/kafka:3.9.1", ImageFamily.APACHE, "3.9.1"),
        ("apache/kafka", ImageFamily.APACHE, None),
        ("apache/kafka:latest", ImageFamily.APACHE, None),
        ("docker.io/apache/kafka:4.1.0@sha256:aa", ImageFamily.APACHE, "4.1.0"),
        ("localhost:5000/confluentinc/cp-kafka:7.9.2", ImageFamily.CONFLUENT, "3.9.2"),
        ("confluentinc/cp-kafka:7.9.x", ImageFamily.CONFLUENT, "3.9"),
        ("confluentinc/cp-server:8.0.0", ImageFamily.CONFLUENT, "4.0.0"),
        ("confluentinc/cp-kafka:6.2.0", ImageFamily.CONFLUENT, "2.8"),
        ("confluentinc/cp-kafka:5.5.1", ImageFamily.CONFLUENT, "2.5"),
        ("confluentinc/cp-zookeeper:7.9.2", ImageFamily.CONFLUENT_ZOOKEEPER, None),
        ("example/kafka:3.9.1", ImageFamily.OTHER, None),
        ("", ImageFamily.OTHER, None),
    ],
)
def test_reference(text: str, family: ImageFamily, version: str | None) -> None:
    image = parse_image(text)
    assert image.family is family
    assert (str(image.kafka_version) if image.kafka_version else None) == version


@pytest.mark.parametrize(
    ("image", "command", "runs"),
    [
        ("apache/kafka:3.9.1", "", True),
        ("apache/kafka:3.9.1", "/__cacert_entrypoint.sh /etc/kafka/docker/run", True),
        ("confluentinc/cp-kafka:7.9.2", "sh -c 'sleep 5; exec /etc/confluent/docker/run'", True),
        ("confluentinc/cp-kafka:7.9.2", "kafka-topics --list", False),
        ("confluentinc/cp-zookeeper:7.9.2", "", False),
        ("example/app", "/etc/kafka/docker/run", False),
    ],
)
def test_what_runs_a_broker(image: str, command: str, runs: bool) -> None:
    assert runs_broker(image, command) is runs
