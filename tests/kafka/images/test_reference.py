"""Image references and the Kafka that their tags stand for."""

import pytest

from netdiag.kafka.images.families import Sign, parse_image, runs_broker, sign_of_broker
from netdiag.kafka.images.reference import ImageFamily
from tests.each import each


@each(
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
        ("confluentinc/confluent-local:7.5.0", ImageFamily.CONFLUENT_LOCAL, "3.5.0"),
        ("public.ecr.aws/bitnami/kafka:3.6.2-debian-12-r5", ImageFamily.BITNAMI, "3.6.2"),
        ("bitnami/kafka:latest", ImageFamily.BITNAMI, None),
        ("bitnamilegacy/kafka:latest", ImageFamily.BITNAMI, "4.0.0"),
        ("bitnami/kafka:2", ImageFamily.BITNAMI, "2.8"),
        ("soldevelo/kafka:3.9.0", ImageFamily.BITNAMI, "3.9.0"),
        ("wurstmeister/kafka", ImageFamily.WURSTMEISTER, "2.8.1"),
        ("wurstmeister/kafka:2.12-2.5.0", ImageFamily.WURSTMEISTER, "2.5.0"),
        ("wurstmeister/kafka:0.10.2.1", ImageFamily.WURSTMEISTER, "0.10.2"),
        ("quay.io/debezium/kafka:2.7.3.Final", ImageFamily.DEBEZIUM, "3.7.0"),
        ("debezium/kafka:9.9", ImageFamily.DEBEZIUM, None),
        ("quay.io/strimzi/kafka:latest-kafka-3.2.1", ImageFamily.STRIMZI, "3.2.1"),
        ("landoop/fast-data-dev:2.6.2", ImageFamily.FAST_DATA_DEV, "2.6.2"),
        ("landoop/fast-data-dev:cp3.3.1", ImageFamily.FAST_DATA_DEV, None),
        ("lensesio/box:5.5", ImageFamily.FAST_DATA_DEV, None),
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
        ("bitnami/kafka:3.7", "/opt/bitnami/scripts/kafka/entrypoint.sh /opt/bitnami/scripts/kafka/run.sh", True),
        ("bitnami/kafka:3.7", "kafka-topics.sh --list", False),
        ("strimzi/kafka:latest-kafka-3.2.1", "", False),
        ("strimzi/kafka:latest-kafka-3.2.1", "sh -c 'bin/kafka-server-start.sh x'", True),
        ("debezium/kafka:2.7", "/docker-entrypoint.sh start", True),
        ("debezium/kafka:2.7", "watch-topic x", False),
    ],
)
def test_what_runs_a_broker(image: str, command: str, runs: bool) -> None:
    assert runs_broker(image, command) is runs


@pytest.mark.parametrize(
    ("image", "runs"),
    [("example/kafka", True), ("", True), ("example/kafka-connect", False), ("example/kafka-ui", False)],
)
def test_of_an_unknown_image_the_variables_tell(image: str, runs: bool) -> None:
    environment = {"KAFKA_LISTENERS": "A://:9092", "KAFKA_ADVERTISED_LISTENERS": "A://kafka:9092"}
    assert runs_broker(image, "", environment) is runs
    assert runs_broker("example/app", "") is False


ADVERTISED = {"KAFKA_ADVERTISED_LISTENERS": "A://kafka:9092"}


@pytest.mark.parametrize(
    ("image", "command", "environment", "is_published", "sign"),
    [
        ("confluentinc/cp-kafka:7.5.0", "", {}, False, Sign.IMAGE),
        ("confluentinc/cp-kafka:7.5.0", "/scripts/run.sh", ADVERTISED, True, Sign.SCRIPT),
        ("confluentinc/cp-kafka:7.5.0", "bash -ex /scripts/run.sh --now", ADVERTISED, True, Sign.SCRIPT),
        ("confluentinc/cp-kafka:7.5.0", "/scripts/run.sh", ADVERTISED, False, None),
        ("confluentinc/cp-kafka:7.5.0", "/scripts/run.sh", {}, True, None),
        ("confluentinc/cp-kafka:7.5.0", "/scripts/create-topics.sh", ADVERTISED, True, None),
        ("confluentinc/cp-kafka:7.5.0", "bash -c 'kafka-topics --list'", ADVERTISED, True, None),
        ("example/kafka-ui", "/run.sh", ADVERTISED, True, None),
        ("ubuntu:22.04", "/opt/kafka/bin/kafka-server-start.sh /opt/server.properties", {}, False, Sign.COMMAND),
        ("ubuntu:22.04", "", {}, True, None),
        ("example/anything", "", ADVERTISED, False, Sign.VARIABLES),
        ("", "", {"KAFKA_ADVERTISED_HOST_NAME": "kafka"}, False, Sign.VARIABLES),
        ("example/anything", "", {"KAFKA_CFG_PROCESS_ROLES": "controller,broker"}, False, Sign.VARIABLES),
        ("${REPO}x", "", {"KAFKA_ZOOKEEPER_CONNECT": "z:2181", "KAFKA_ADVERTISED_PORT": "1"}, False, Sign.VARIABLES),
        ("example/anything", "", {"KAFKA_ZOOKEEPER_CONNECT": "z:2181", "KAFKA_BROKER_ID": "1"}, False, Sign.VARIABLES),
        ("example/anything", "", {"KAFKA_ZOOKEEPER_CONNECT": "z:2181"}, True, None),
        ("wurstmeister/kafka:2.13-2.8.1", "kafka-entrypoint.sh", ADVERTISED, False, Sign.SCRIPT),
        ("wurstmeister/kafka:2.13-2.8.1", "kafka-create-topics.sh", ADVERTISED, True, None),
        ("somebody/kafka:2", "", {}, True, Sign.NAME),
        ("somebody/kafka:2", "", {}, False, None),
        ("somebody/kafka:2", "sleep 5", {}, False, None),
        ("somebody/kafka-tools", "", {}, False, None),
    ],
)
def test_what_tells_a_broker(
    image: str, command: str, environment: dict[str, str], is_published: bool, sign: Sign | None
) -> None:
    assert sign_of_broker(image, command, environment, is_published=is_published) is sign


ZOOKEEPER = {"KAFKA_ZOOKEEPER_CONNECT": "zoo:2181"}


@pytest.mark.parametrize(
    ("image", "command", "environment", "ports", "sign"),
    [
        ("somebody/docker-kafka-kraft:1", "", {}, {9093}, Sign.NAME),
        ("somebody/kafka-ssl", "", {}, {19092, 2181}, Sign.NAME),
        ("somebody/kafka-ssl", "", {}, {8080}, None),
        ("somebody/kafka-ui", "", {}, {9092}, None),
        ("somebody/kafkaesque", "", {}, {9092}, None),
        ("somebody/app", "", {}, {9092}, None),
        ("somebody/box", "", ZOOKEEPER, {9092}, Sign.PORT),
        ("somebody/box", "./entrypoint.sh", ZOOKEEPER, {9092}, Sign.PORT),
        ("somebody/box", "./create-topics.sh", ZOOKEEPER, {9092}, None),
        ("somebody/box", "", ZOOKEEPER, {8080}, None),
        ("somebody/box", "/sbin/dumb-init start-kafka.sh", {}, set(), Sign.COMMAND),
        ("somebody/box", "start-kafka.sh-not", {}, set(), None),
    ],
)
def test_ports_by_custom_tell_a_broker(
    image: str, command: str, environment: dict[str, str], ports: set[int], sign: Sign | None
) -> None:
    assert sign_of_broker(image, command, environment, is_published=bool(ports), ports=ports) is sign


@pytest.mark.parametrize(
    ("image", "newest"),
    [
        ("bitnami/kafka", True),
        ("bitnami/kafka:latest", True),
        ("bitnamilegacy/kafka", False),
        ("wurstmeister/kafka", False),
        ("confluentinc/cp-kafka:latest", True),
        ("bitnami/kafka@sha256:aa", False),
    ],
)
def test_the_newest_release(image: str, newest: bool) -> None:
    assert parse_image(image).is_newest is newest
