"""The clients that a compose service shows, each list at its place in the file."""

import pytest

from netdiag.deployment.model.deployment import KafkaClient
from netdiag.findings import FileLocation
from tests.deployment.stacks import deployment_of

TEXT = """\
name: t
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    healthcheck: {{test: "{check}"}}
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      KAFKA_METRIC_REPORTERS: {reporters}
      CONFLUENT_METRICS_REPORTER_BOOTSTRAP_SERVERS: kafka:9092
  app:
    image: {image}
    {body}
"""


def shown(body: str, *, image: str = "shop/app", check: str = "exit 0", reporters: str = "none") -> list[str]:
    text = TEXT.format(body=body, image=image, check=check, reporters=reporters)
    deployment = deployment_of(text)
    kinds = (deployment.clients, deployment.waiting, deployment.health_checks)
    return [
        f"{letter} {d.member.name} {d.setting} {written(text, d, i)}"
        for letter, found in zip("cwh", kinds, strict=True)
        for d in found
        for i in range(len(d.bootstraps))
    ]


def written(text: str, dependent: KafkaClient, index: int) -> str:
    """The bytes of the file at the place of an address."""
    address = dependent.bootstraps[index]
    where = dependent.declared.at(address.start, address.end)
    assert isinstance(where, FileLocation)
    return text.encode()[where.start : where.end].decode()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("environment: {KAFKA_BROKERS: 'a:1, b:1'}", ["c app KAFKA_BROKERS a:1", "c app KAFKA_BROKERS b:1"]),
        ("environment: [KAFKA_BROKERS=kafka:9092]", ["c app KAFKA_BROKERS kafka:9092"]),
        ("command: kafka-topics --list --bootstrap-server kafka:1", ["c app --bootstrap-server in command kafka:1"]),
        ("command: [kcat, -b, 'kafka:1']", ["c app -b in command kafka:1"]),
        ("entrypoint: [sh, -c, 'kcat -b kafka:1']", ["c app -b in entrypoint kafka:1"]),
        ("healthcheck: {test: kcat -b kafka:1 -L}", ["c app -b in healthcheck kafka:1"]),
        ("healthcheck: {test: kcat -b localhost:1 -L}", []),
        ("healthcheck: {test: kcat -b app:1 -L}", []),
        ("healthcheck: {disable: true, test: kcat -b kafka:1 -L}", []),
        ("command: ./wait-for-it.sh kafka:1 -- app", ["w app wait in command kafka:1"]),
        ("environment: {WAIT_HOSTS: 'kafka:1'}", ["w app WAIT_HOSTS kafka:1"]),
        ("command: sleep 1d\n    environment: {KAFKA_BROKERS: 'kafka:1'}", []),
    ],
)
def test_what_a_service_shows(body: str, expected: list[str]) -> None:
    assert shown(body) == expected


def test_a_broker_checks_itself() -> None:
    check = "kafka-topics --list --bootstrap-server localhost:9092 && nc -z kafka 9092"
    assert shown("init: true", check=check) == [
        "h kafka --bootstrap-server in healthcheck localhost:9092",
        "h kafka wait in healthcheck kafka 9092",
    ]


def test_a_broker_that_reports_its_metrics_is_a_client() -> None:
    reporters = "io.confluent.metrics.reporter.ConfluentMetricsReporter"
    name = "CONFLUENT_METRICS_REPORTER_BOOTSTRAP_SERVERS"
    assert shown("init: true", reporters=reporters) == [f"c kafka {name} kafka:9092"]
    assert shown("init: true") == []


def test_a_job_in_a_brokers_image_is_a_client() -> None:
    body = "command: kafka-topics --create --topic t --bootstrap-server kafka:9092"
    assert shown(body, image="confluentinc/cp-kafka:7.9.2") == ["c app --bootstrap-server in command kafka:9092"]
