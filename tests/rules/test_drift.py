"""What differs between a container and its file, one finding for each."""

import pytest

from netdiag.rules.observed.live_file_drift import check
from tests.rules.recorded import view_of

RUNS = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9092:9092", "127.0.0.1:9093:9093"]
    networks: [one]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_SSL_KEY_PASSWORD: hunter2
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
  app:
    image: alpine:3.20
    networks: [one]
    environment: {KAFKA_BOOTSTRAP_SERVERS: "kafka:9092", OTHER: a}
networks: {one: , two: }
"""
BEGIN = "kafka runs as it was made, not as its file is now: "


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (("7.9.2", "7.8.0"), "it runs 'confluentinc/cp-kafka:7.9.2', and the file says 'confluentinc/cp-kafka:7.8.0'"),
        (('"9092:9092", ', ""), "9092:9092 is published, and is not in the file"),
        (('["9092:9092", ', '["9095:9092", "9092:9092", '), "9095:9092 is in the file, and is not published"),
        (("networks: [one]\n    environment:", "networks: [one, two]\n    environment:"), "it is not on _two, which"),
        (("networks: [one]\n    environment:", "network_mode: host\n    environment:"), "network_mode is host in the"),
        (("hunter2", "hunter3"), "KAFKA_SSL_KEY_PASSWORD differs from the file"),
        (("PLAINTEXT://kafka", "PLAINTEXT://broker"), "KAFKA_ADVERTISED_LISTENERS is 'PLAINTEXT://kafka:9092', and"),
        (("KAFKA_SSL_KEY", "KAFKA_BROKER_ID: 7\n      KAFKA_SSL_KEY"), "KAFKA_BROKER_ID is in the file only"),
    ],
)
def test_one_difference_is_one_finding(now: tuple[str, str], said: str) -> None:
    found = list(check(view_of(f"{RUNS}x-observed:\n  files:\n" + _indented(RUNS.replace(*now, 1)))))
    assert [finding.message.startswith(BEGIN + said) for finding in found] == [True], found
    assert "hunter" not in str(found)
    assert getattr(found[0].location, "path", None) == "now/compose.yml"
    assert found[0].hint == "run `docker compose up -d kafka`"


def test_nothing_differs() -> None:
    assert list(check(view_of(f"{RUNS}x-observed:\n  files:\n" + _indented(RUNS)))) == []


def test_a_client_s_list_and_a_broker_that_was_never_started() -> None:
    now = RUNS.replace('KAFKA_BOOTSTRAP_SERVERS: "kafka:9092", OTHER: a', 'KAFKA_BOOTSTRAP_SERVERS: "k:9092", OTHER: b')
    now = now.replace("  app:", "  kafka-2:\n    image: confluentinc/cp-kafka:7.9.2\n  app:")
    client, missing = check(view_of(f"{RUNS}x-observed:\n  files:\n" + _indented(now)))
    assert "KAFKA_BOOTSTRAP_SERVERS is 'kafka:9092', and the file says 'k:9092'" in client.message
    assert missing.message == "kafka-2 is in the file and has no container"


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())
